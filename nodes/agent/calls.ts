/** Executes the tool calls of one answer of a model: checks them, and performs them concurrently. */
import { StepError } from '../../api/reasons.ts';
import type { ModelToolCall } from '../contract/model.ts';
import { abortion, AwaitsChildren } from '../contract/node.ts';
import { ChildWaits } from './childCalls.ts';
import { performCall, type Execution, type RightCall } from './performCall.ts';
import { parametersOf, type AgentTools } from './tools.ts';
import { doubtKey, resultKey, type StoredResult, type Round } from './rounds.ts';
import { cutResult } from './transcriptLimits.ts';

/** The most tool calls of one answer that are executed. */
const MOST_CALLS = 32;

type Checked = RightCall | { problem: string };

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

/**
 * Executes the calls of the round that have no result, and stores their results. An effect that must not be
 * repeated and that another delivery began is in doubt. Waits for all calls before it fails. When all open
 * calls wait for child runs, it ends.
 * @throws StepError; `AwaitsChildren` with the child runs to wait for
 */
export async function executeCalls(round: Round, execution: Execution): Promise<void> {
  const { died, tools, maxParallel } = execution;
  const errors: unknown[] = [];
  const waiting: (() => Promise<void>)[] = [];
  const waits = new ChildWaits(execution.calls, maxParallel);
  for (const [index, call] of round.answer.toolCalls.entries()) {
    if (round.results[index]) continue;
    const doubt = round.doubts.get(index);
    if (doubt !== undefined) {
      errors.push(new StepError('EffectUnknown', doubt));
      continue;
    }
    const checked = checkAgain(round, index, tools);
    const isRepeatable = 'tool' in checked && checked.tool.effect === 'AtLeastOnce';
    // What had begun was right: a tool that has changed since does not make it a call without an effect.
    if (died.has(index) && !isRepeatable) {
      errors.push(inDoubtOf(call.name, 'the call began, and its result is lost'));
      continue;
    }
    waiting.push(() => executeCall({ round, index, checked }, execution, waits));
  }
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next && !waits.isOver; next = waiting.shift()) {
      try {
        await next();
      } catch (error) {
        errors.push(error);
        waiting.length = 0;
      }
    }
  };
  await Promise.all(Array.from({ length: maxParallel }, () => waits.work(work)));
  const [error] = errors.toSorted((a, b) => Number(isInDoubt(b)) - Number(isInDoubt(a)));
  // A call in doubt fails the step after the others have ended.
  if (waits.open.size > 0 && (error === undefined || isInDoubt(error)))
    throw new AwaitsChildren([...waits.open]);
  if (error !== undefined) throw error;
}

/** A call that has started its child run is right, also if the workflow has another schema since. */
function checkAgain({ answer, children }: Round, index: number, tools: AgentTools): Checked {
  const call = answer.toolCalls[index];
  if (!call) throw new Error('there is no such call');
  const started = children.has(index) && tools.tools.find(({ name }) => name === call.name);
  return started ? { tool: started, parameters: {} } : checkCall(call, index, tools);
}

const isInDoubt = (error: unknown): boolean => error instanceof StepError && error.reason === 'EffectUnknown';

function inDoubtOf(tool: string, why: string): StepError {
  return new StepError('EffectUnknown', `tool ${tool}: ${why}, and its effect must not be repeated`);
}

type Planned = { round: Round; index: number; checked: Checked };

async function executeCall(planned: Planned, execution: Execution, waits: ChildWaits): Promise<void> {
  const { round, index, checked } = planned;
  const { step, store, report, now, calls } = execution;
  if (calls.signal.aborted) throw abortion(calls.signal);
  // Of a child run that was started before, the model's answer is the best known time.
  const startedAt = round.children.has(index) ? round.answer.endedAt : now();
  if ('tool' in checked) {
    round.begun.set(index, startedAt);
    report();
  }
  const result =
    'problem' in checked
      ? wrong(checked.problem, startedAt)
      : await performCall({ round, index, ...checked }, execution, waits).catch((error: unknown) =>
          storeDoubt(planned, execution, error),
        );
  if (!result) return;
  round.results[index] = { startedAt, endedAt: now(), ...result };
  await store(new Map([[resultKey(step, index), JSON.stringify(round.results[index])]]));
  const child = round.children.get(index);
  if (child !== undefined) calls.children?.drop(child);
}

/**
 * Stores why the effect of the call is in doubt: until other calls of the answer have ended, which may take
 * days, the step neither fails nor stays in this runner.
 */
async function storeDoubt(
  { round, index }: Planned,
  { step, store }: Execution,
  error: unknown,
): Promise<never> {
  // A child run has an end of its own, which is found again.
  if (error instanceof StepError && isInDoubt(error) && !round.children.has(index)) {
    round.doubts.set(index, error.message);
    await store(new Map([[doubtKey(step, index), error.message]]));
  }
  throw error;
}
