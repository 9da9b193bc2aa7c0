/**
 * The rounds of an agent, rebuilt from its stored calls: each is an answer of the model that calls tools,
 * with their results. Pure. Keys:
 * - `m<k>`: answer k of the model (from 1), with the start marks of the tools that start with it
 * - `m<k>.<i>`: the result of its tool call i (from 0)
 * - `m<k>.<i>!`: the start mark of a tool call that started later, or the name of the child run of a tool
 *   call that runs a workflow
 * - `m<k>.<i>?`: why the effect of a tool call is in doubt, while other calls of the answer wait for child
 *   runs
 */
import { StepError } from '../../api/reasons.ts';
import type { ModelAnswer, ModelMessage } from '../contract/model.ts';
import type { FailedModel, ModelChoice } from './askModels.ts';

/** Answers in a row with a wrong call, after which the agent fails. */
const MOST_WRONG = 3;

/**
 * A stored answer. `chosen`: the model that gave it. `failed`: those that were asked before it. `marks`: the
 * `AtMostOnce` calls that started with it. Times are milliseconds since 1970.
 */
export type StoredAnswer = Pick<ModelAnswer, 'text' | 'toolCalls' | 'model' | 'usage' | 'raw'> & {
  attempt: number;
  chosen: ModelChoice;
  failed: readonly FailedModel[];
  startedAt: number;
  endedAt: number;
  marks: readonly number[];
  /** How many turns of the memory the model was sent. */
  memoryTurns?: number;
};

/** A stored result. `isWrong`: the call was wrong, and no tool was executed. */
export type StoredResult = {
  text: string;
  isError?: true;
  isWrong?: true;
  startedAt: number;
  endedAt: number;
};

/**
 * An answer with its results, with the calls that have a start mark, and with the child runs of calls that
 * run a workflow. `doubts`: why effects of calls are in doubt. `begun`: when the calls in progress started.
 */
export type Round = {
  readonly answer: StoredAnswer;
  readonly results: (StoredResult | undefined)[];
  readonly marked: Set<number>;
  readonly children: Map<number, string>;
  readonly doubts: Map<number, string>;
  readonly begun: Map<number, number>;
};

export const answerKey = (step: number): string => `m${step}`;
export const resultKey = (step: number, call: number): string => `m${step}.${call}`;
export const markKey = (step: number, call: number): string => `m${step}.${call}!`;
export const doubtKey = (step: number, call: number): string => `m${step}.${call}?`;
/** What is stored under the key of a mark that is not a child run. */
export const STARTED = '1';

/** The rounds in their order. */
export function roundsOf(stored: ReadonlyMap<string, string>): Round[] {
  const rounds: Round[] = [];
  for (let step = 1; ; step += 1) {
    const text = stored.get(answerKey(step));
    if (text === undefined) return rounds;
    const answer = JSON.parse(text) as StoredAnswer;
    const results = answer.toolCalls.map((_, call) => {
      const result = stored.get(resultKey(step, call));
      return result === undefined ? undefined : (JSON.parse(result) as StoredResult);
    });
    const late = answer.toolCalls.flatMap((_, call): [number, string][] => {
      const mark = stored.get(markKey(step, call));
      return mark === undefined ? [] : [[call, mark]];
    });
    const marked = late.flatMap(([call, mark]) => (mark === STARTED ? [call] : []));
    const children = new Map(late.filter(([, mark]) => mark !== STARTED));
    const doubts = new Map(
      answer.toolCalls.flatMap((_, call): [number, string][] => {
        const why = stored.get(doubtKey(step, call));
        return why === undefined ? [] : [[call, why]];
      }),
    );
    rounds.push({
      answer,
      results,
      marked: new Set([...answer.marks, ...marked]),
      children,
      doubts,
      begun: new Map(),
    });
  }
}

/** The child runs that these stored calls wait for. */
export function openChildren(stored: ReadonlyMap<string, string>): string[] {
  const last = roundsOf(stored).at(-1);
  return last ? [...last.children].flatMap(([call, child]) => (last.results[call] ? [] : [child])) : [];
}

/** Whether one of these stored calls has begun, must not be repeated, and has no result. */
export function hasCallInDoubt(stored: ReadonlyMap<string, string>): boolean {
  const last = roundsOf(stored).at(-1);
  return last !== undefined && [...last.marked, ...last.doubts.keys()].some((call) => !last.results[call]);
}

/** The messages of a request that continues after these rounds, all of whose calls have results. */
export function messagesOf(first: readonly ModelMessage[], rounds: readonly Round[]): ModelMessage[] {
  return [...first, ...rounds.flatMap(messagesOfRound)];
}

function messagesOfRound({ answer: { text, toolCalls, raw }, results }: Round): ModelMessage[] {
  return [
    { role: 'assistant', text, toolCalls, ...(raw !== undefined && { raw }) },
    ...toolCalls.map(
      ({ id }, call): ModelMessage => ({
        role: 'tool',
        callId: id,
        text: results[call]?.text ?? '',
        isError: results[call]?.isError === true,
      }),
    ),
  ];
}

/**
 * Refuses a further request after too many answers in a row with a wrong call.
 * @throws StepError `InvalidToolCall`
 */
export function refuseWrongCalls(rounds: readonly Round[]): void {
  const last = rounds.slice(-MOST_WRONG);
  const wrong = last.map(({ results }) => results.find((result) => result?.isWrong));
  const final = wrong.at(-1);
  if (last.length < MOST_WRONG || !final || wrong.includes(undefined)) return;
  throw new StepError(
    'InvalidToolCall',
    `the model called tools wrongly in ${MOST_WRONG} answers in a row, at last: ${final.text.slice(0, 500)}. ${progressOf(rounds)}`,
  );
}

/** What an agent has done, in a sentence. */
export function progressOf(rounds: readonly Round[]): string {
  const counts = new Map<string, number>();
  for (const { answer, results } of rounds)
    for (const [call, result] of results.entries())
      if (result && !result.isWrong) {
        const name = answer.toolCalls[call]?.name ?? '';
        counts.set(name, (counts.get(name) ?? 0) + 1);
      }
  const calls = [...counts].map(([name, count]) => `${name} ${count} times`);
  return `It called ${calls.join(', ') || 'no tool'}`;
}
