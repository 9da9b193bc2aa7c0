/** Asks a model until its answer has no problems, at most twice more. Pure but for what it is given. */
import { ApiFailure } from '../../http/failure.ts';
import { repairPrompt, type BuildPrompt } from './buildPrompt.ts';

/** How often a model may correct its answer. */
const REPAIRS = 2;

/** `value` is undefined if the answer cannot be used at all. */
export type Checked<T> = { value: T | undefined; problems: string[] };

type Loop<T> = {
  prompt: BuildPrompt;
  ask: (prompt: BuildPrompt) => Promise<string>;
  check: (answer: string) => Promise<Checked<T>>;
  /** Says what is done now. */
  onStep: (step: string) => void;
};

/** The value with the problems that remain. Throws an ApiFailure if the last answer cannot be used. */
export async function askUntilValid<T>(loop: Loop<T>): Promise<{ value: T; problems: string[] }> {
  const { prompt: first, ask, check, onStep } = loop;
  let prompt = first;
  for (let repairs = 0; ; repairs += 1) {
    onStep(repairs === 0 ? 'Waiting for the model…' : `Correcting the answer (${repairs} of ${REPAIRS})…`);
    const answer = await ask(prompt);
    onStep('Checking the answer…');
    const { value, problems } = await check(answer);
    const isLast = repairs === REPAIRS;
    if (value !== undefined && (problems.length === 0 || isLast)) return { value, problems };
    if (isLast) throw unusable(problems);
    prompt = repairPrompt(first, answer, problems);
  }
}

function unusable(problems: readonly string[]): ApiFailure {
  return new ApiFailure({
    status: -1,
    title: 'The answer of the model cannot be used',
    detail: `${problems.slice(0, 5).join(' ')} The draft is unchanged. Use other words, or choose another model.`,
    reason: 'no-answer',
  });
}
