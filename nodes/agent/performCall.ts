/** Performs one tool call, and says what the model is told of it. */
import { toText } from '../../api/expression/evaluate.ts';
import { StepError } from '../../api/reasons.ts';
import { abortion, type AgentCalls, type PerformedCall, type StepResult } from '../contract/node.ts';
import { resultOfChild, startChild, type ChildWaits } from './childCalls.ts';
import { redirectsOf, type AgentTools, type SkillTool, type Tool } from './tools.ts';
import { cutResult, markKey, STARTED, type StoredResult, type Turn } from './transcript.ts';

/** How long a skill may take. A child run has the timeout of its workflow. */
const TOOL_TIMEOUT_MS = 60_000;

/** A call that fits its tool. */
export type RightCall = { tool: Tool; parameters: Record<string, unknown> };

export type Execution = {
  step: number;
  tools: AgentTools;
  /** The calls that another delivery began. */
  died: ReadonlySet<number>;
  maxParallel: number;
  /** The effect key of the answer. */
  effectKey: string;
  calls: AgentCalls;
  store: (entries: ReadonlyMap<string, string>) => Promise<void>;
  /** Shows what has changed in the turn. */
  report: () => void;
  now: () => number;
};

type Told = Pick<StoredResult, 'text' | 'isError'>;

/** What the model is told of the call; undefined while its child run is unfinished. */
export async function performCall(
  { turn, index, tool, parameters }: RightCall & { turn: Turn; index: number },
  { step, store, calls, effectKey }: Execution,
  waits: ChildWaits,
): Promise<Told | undefined> {
  const mark = async (value: string) => store(new Map([[markKey(step, index), value]]));
  const key = `${effectKey}.${index}`;
  if ('workflow' in tool && tool.mock) return told(tool, calls, tool.mock);
  if ('workflow' in tool)
    return told(tool, calls, async () => {
      const known = turn.children.get(index);
      const child = known ?? (await startChild(tool, { input: parameters, effectKey: key }, calls));
      if (known === undefined) {
        turn.children.set(index, child);
        await mark(child);
      } else calls.children?.await(child);
      return resultOfChild(tool, child, calls, waits);
    });
  const { effect } = tool;
  if (effect === 'AtMostOnce' && !turn.marked.has(index)) {
    await mark(STARTED);
    turn.marked.add(index);
  }
  return told(tool, calls, () => performSkill(tool, parameters, { effect, effectKey: key }, calls));
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

/** What the model is told of the tool: also that it failed, unless its effect is in doubt. */
async function told(
  { name, effect }: Tool,
  { signal }: AgentCalls,
  work: () => Promise<StepResult | undefined>,
): Promise<Told | undefined> {
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
