/** Executes the tool calls of one answer of a model: checks them, and performs them concurrently. */
import { toText } from '../../api/expression/evaluate.ts';
import { StepError } from '../../api/reasons.ts';
import type { ModelToolCall } from '../contract/model.ts';
import { abortion, type AgentCalls, type PerformedCall, type StepResult } from '../contract/node.ts';
import { parametersOf, type AgentTools, type Tool } from './tools.ts';
import { cutResult, markKey, resultKey, type StoredResult, type Turn } from './transcript.ts';

/** The most tool calls of one answer that are executed. */
const MOST_CALLS = 32;
/** How long a tool may take. */
const TOOL_TIMEOUT_MS = 60_000;

type Checked = { tool: Tool; parameters: Record<string, unknown> } | { problem: string };

/** The tool and parameters of a call, or why the model must correct it. */
function checkCall(call: ModelToolCall, index: number, { tools, fixed }: AgentTools): Checked {
  if (index >= MOST_CALLS)
    return { problem: `at most ${MOST_CALLS} tools are called at once: call it again` };
  const at = tools.findIndex(({ name }) => name === call.name);
  const tool = tools[at];
  if (!tool) {
    const offered = tools.map(({ name }) => name).join(', ');
    return { problem: `there is no tool ${call.name.slice(0, 64)}; the tools are: ${offered}` };
  }
  const result = parametersOf(tool, fixed[at] ?? {}, call);
  return 'problem' in result ? result : { tool, parameters: result.parameters };
}

/**
 * What is known of the calls of an answer before any is executed: the results of wrong ones, how many are
 * right, and which of these start at once and must not be repeated.
 */
export function planCalls(
  calls: readonly ModelToolCall[],
  tools: AgentTools,
  { maxParallel, now }: { maxParallel: number; now: number },
): { results: (StoredResult | undefined)[]; right: number; marks: number[] } {
  const checked = calls.map((call, index) => checkCall(call, index, tools));
  const right = checked.flatMap((check, index) => ('tool' in check ? [{ index, tool: check.tool }] : []));
  return {
    results: checked.map((check) => ('problem' in check ? wrong(check.problem, now) : undefined)),
    right: right.length,
    marks: right
      .slice(0, maxParallel)
      .filter(({ tool }) => tool.effect === 'AtMostOnce')
      .map(({ index }) => index),
  };
}

function wrong(problem: string, now: number): StoredResult {
  return {
    text: cutResult(`The call is wrong: ${problem}`),
    isError: true,
    isWrong: true,
    startedAt: now,
    endedAt: now,
  };
}

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

/**
 * Executes the calls of the turn that have no result, and stores their results. An effect that must not be
 * repeated and that another delivery began is in doubt. Waits for all calls before it fails.
 * @throws StepError
 */
export async function executeCalls(turn: Turn, execution: Execution): Promise<void> {
  const { died, tools, maxParallel } = execution;
  const errors: unknown[] = [];
  const waiting: (() => Promise<void>)[] = [];
  for (const [index, call] of turn.answer.toolCalls.entries()) {
    if (turn.results[index]) continue;
    const checked = checkCall(call, index, tools);
    if ('tool' in checked && checked.tool.effect === 'AtMostOnce' && died.has(index)) {
      errors.push(inDoubtOf(call.name, 'the runner died during the call'));
      continue;
    }
    waiting.push(() => executeCall(turn, index, checked, execution));
  }
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      try {
        await next();
      } catch (error) {
        errors.push(error);
        waiting.length = 0;
      }
    }
  };
  await Promise.all(Array.from({ length: maxParallel }, work));
  const [error] = errors.toSorted((a, b) => Number(isInDoubt(b)) - Number(isInDoubt(a)));
  if (error !== undefined) throw error;
}

const isInDoubt = (error: unknown): boolean => error instanceof StepError && error.reason === 'EffectUnknown';

function inDoubtOf(tool: string, why: string): StepError {
  return new StepError('EffectUnknown', `tool ${tool}: ${why}, and its effect must not be repeated`);
}

async function executeCall(turn: Turn, index: number, checked: Checked, execution: Execution): Promise<void> {
  const { step, store, report, now, calls, effectKey } = execution;
  if (calls.signal.aborted) throw abortion(calls.signal);
  const startedAt = now();
  let result: StoredResult;
  if ('problem' in checked) result = wrong(checked.problem, startedAt);
  else {
    const { effect } = checked.tool;
    if (effect === 'AtMostOnce' && !turn.marked.has(index)) {
      await store(new Map([[markKey(step, index), '1']]));
      turn.marked.add(index);
    }
    const call = { effect, effectKey: `${effectKey}.${index}`, timeoutMs: TOOL_TIMEOUT_MS };
    turn.begun.set(index, startedAt);
    report();
    result = { ...(await told(checked, call, calls)), startedAt, endedAt: now() };
  }
  turn.results[index] = result;
  await store(new Map([[resultKey(step, index), JSON.stringify(result)]]));
}

/** What the model is told of the tool: also that it failed, unless its effect is in doubt. */
async function told(
  { tool: { skill, credential, name, effect }, parameters }: Exclude<Checked, { problem: string }>,
  call: PerformedCall,
  calls: AgentCalls,
): Promise<Pick<StoredResult, 'text' | 'isError'>> {
  try {
    const result = await calls.perform(call, (context) => skill.execute(parameters, context, credential));
    return { text: cutResult(textOf(result)) };
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    if (error.reason === 'EffectUnknown') throw new StepError(error.reason, `tool ${name}: ${error.message}`);
    // It is repeated. A call that must not be repeated has ended without its effect, so its result is stored.
    if (calls.signal.aborted && effect === 'AtLeastOnce') throw abortion(calls.signal);
    return { text: cutResult(`${error.reason}: ${error.message}`), isError: true };
  }
}

function textOf({ output: { text_content, data_content } }: StepResult): string {
  return data_content === null || data_content === undefined ? text_content : toText(data_content);
}
