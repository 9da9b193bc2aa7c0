/** Performs one tool call, and returns what the model is shown of it. */
import { toText } from '../../api/expression/evaluate.ts';
import { StepError } from '../../api/reasons.ts';
import { abortion, type AgentCalls, type PerformedCall, type StepResult } from '../contract/node.ts';
import { resultOfChild, startChild, type ChildWaits } from './childCalls.ts';
import { redirectsOf, type AgentTools, type SkillTool, type Tool } from './tools.ts';
import { markKey, STARTED, type StoredResult, type Round } from './rounds.ts';
import { cutResult } from './transcriptLimits.ts';

/** How long a skill may take. A child run has the timeout of its workflow. */
const TOOL_TIMEOUT_MS = 60_000;

/** A call that fits its tool. */
export type RightCall = { tool: Tool; parameters: Record<string, unknown> };

export type Execution = {
  step: number;
  tools: AgentTools;
  /** The calls that had begun when an earlier runner died. */
  died: ReadonlySet<number>;
  maxParallel: number;
  /** The effect key of the answer. */
  effectKey: string;
  calls: AgentCalls;
  store: (entries: ReadonlyMap<string, string>) => Promise<void>;
  /** Shows what has changed in the round. */
  report: () => void;
  now: () => number;
};

/** What the model is shown of a call. */
type ShownResult = Pick<StoredResult, 'text' | 'isError'>;

/** Performs the call. Returns what the model is shown of it; undefined while its child run is unfinished. */
export async function performCall(
  { round, index, tool, parameters }: RightCall & { round: Round; index: number },
  { step, store, calls, effectKey }: Execution,
  waits: ChildWaits,
): Promise<ShownResult | undefined> {
  const mark = async (value: string) => store(new Map([[markKey(step, index), value]]));
  const key = `${effectKey}.${index}`;
  if ('workflow' in tool && tool.mock) return showResult(tool, calls, tool.mock);
  if ('workflow' in tool)
    return showResult(tool, calls, async () => {
      const known = round.children.get(index);
      const child = known ?? (await startChild(tool, { input: parameters, effectKey: key }, calls));
      if (known === undefined) {
        round.children.set(index, child);
        await mark(child);
      } else calls.children?.await(child);
      return resultOfChild(tool, child, calls, waits);
    });
  const { effect } = tool;
  if (effect === 'AtMostOnce' && !round.marked.has(index)) {
    await mark(STARTED);
    round.marked.add(index);
  }
  return showResult(tool, calls, () => performSkill(tool, parameters, { effect, effectKey: key }, calls));
}

function performSkill(
  tool: SkillTool,
  parameters: unknown,
  call: PerformedCall,
  calls: AgentCalls,
): Promise<StepResult> {
  const { skill, credential } = tool;
  const mayRedirect = redirectsOf(tool);
  return calls.perform({ ...call, timeoutMs: TOOL_TIMEOUT_MS }, (context) =>
    skill.execute(parameters, { ...context, mayRedirect }, credential),
  );
}

/** What the model is shown of the work: also that it failed, unless its effect is in doubt. */
async function showResult(
  { name, effect }: Tool,
  { signal }: AgentCalls,
  work: () => Promise<StepResult | undefined>,
): Promise<ShownResult | undefined> {
  try {
    const result = await work();
    return result && { text: cutResult(textOf(result)) };
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    if (error.reason === 'EffectUnknown') throw new StepError(error.reason, `tool ${name}: ${error.message}`);
    // It is repeated. A call that must not be repeated has ended without its effect, so its result is stored.
    if (signal.aborted && effect === 'AtLeastOnce') throw abortion(signal);
    return { text: cutResult(`${error.reason}: ${error.message}`), isError: true };
  }
}

function textOf({ output: { text_content, data_content } }: StepResult): string {
  return data_content === null || data_content === undefined ? text_content : toText(data_content);
}
