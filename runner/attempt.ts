/**
 * One attempt of a step: with a timeout, stoppable, and repeated once if a rejected credential has changed.
 */
import { StepError } from '../api/reasons.ts';
import type { RevisionStep } from '../api/revision.ts';
import type { StepBudget } from '../nodes/contract/budget.ts';
import type { CodeSandbox } from '../nodes/contract/code.ts';
import type { Egress } from '../nodes/egress/egress.ts';
import {
  abortion,
  inDoubt,
  type AgentCalls,
  type AgentMemory,
  type CredentialAccess,
  type Effect,
  type NodeLog,
  type PerformedCall,
  type StepContext,
  type StepResult,
} from '../nodes/contract/node.ts';
import { executeStep, type StepFields } from '../nodes/step.ts';
import type { CredentialSource } from './credentials.ts';

/** What the runner offers to an agent with tools, beside performing its calls. */
export type StoredCalls = Omit<AgentCalls, 'perform' | 'signal'>;

export type Attempt = {
  step: RevisionStep;
  fields: StepFields;
  effect: Effect;
  effectKey: string;
  run: StepContext['run'];
  credentials: CredentialSource;
  egress: Egress;
  isSeen: StepContext['isSeen'];
  mocks?: StepContext['mocks'];
  /** Of an agent with tools. */
  calls?: StoredCalls;
  /** Of an agent. */
  budget?: StepBudget;
  /** Of an agent with a memory. */
  memory?: AgentMemory;
  sandbox?: CodeSandbox;
  emitText: StepContext['emitText'];
  beginText: (position?: number) => void;
  log: NodeLog;
};

/** Why attempts are stopped when the runner shuts down. Calls that must not be repeated may finish. */
export const RUNNER_STOPPED = new StepError('Cancelled', 'the runner was stopped');

/** How long a stopped step may take to end. */
const STOP_GRACE_MS = 5_000;
const LONGEST_TIMER_MS = 2_147_483_647;

/**
 * Executes the attempt until it ends, its timeout has passed, or `stop` is aborted.
 * @throws StepError; other errors are defects
 */
export async function attemptStep(attempt: Attempt, stop: AbortSignal): Promise<StepResult> {
  const { step, fields, effect, effectKey, calls } = attempt;
  const seconds = step.timeoutMs / 1_000;
  const timeout = startTimeout(step.timeoutMs, `the step took longer than its timeout of ${seconds} s`);
  const signal = AbortSignal.any([stop, timeout.signal]);
  try {
    // Its calls end each for itself.
    if (calls)
      return await executeStep(step, fields, agentContext(attempt, calls, { stop, timeout, signal }));
    const call = { effect, effectKey };
    return await withGrace(effect, signal, () =>
      withFreshCredential(attempt, signal, call, (context) => executeStep(step, fields, context)),
    );
  } finally {
    timeout.stop();
  }
}

type Timeout = { signal: AbortSignal; stop: () => void };

function startTimeout(ms: number, message: string): Timeout {
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new StepError('Timeout', message)),
    Math.min(ms, LONGEST_TIMER_MS),
  );
  return { signal: controller.signal, stop: () => clearTimeout(timer) };
}

/** The work, or an error if it does not end soon after the signal was aborted. */
async function withGrace<T>(effect: Effect, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const unresponsive = Promise.withResolvers<never>();
  let grace: NodeJS.Timeout | undefined;
  const startGrace = (): void => {
    grace = setTimeout(
      () => unresponsive.reject(inDoubt(effect, abortion(signal), 'the step did not stop')),
      STOP_GRACE_MS,
    );
  };
  signal.addEventListener('abort', startGrace);
  if (signal.aborted) startGrace();
  try {
    return await Promise.race([work(), unresponsive.promise]);
  } finally {
    signal.removeEventListener('abort', startGrace);
    clearTimeout(grace);
  }
}

type Stops = { stop: AbortSignal; timeout: Timeout; signal: AbortSignal };

/** The context of an agent, which performs each call with a timeout, a grace and a credential of its own. */
function agentContext(attempt: Attempt, calls: StoredCalls, { stop, timeout, signal }: Stops): StepContext {
  const unlessStopped = new AbortController();
  stop.addEventListener('abort', () => {
    if (stop.reason !== RUNNER_STOPPED) unlessStopped.abort(stop.reason);
  });
  const perform = async <T>(call: PerformedCall, work: (context: StepContext) => Promise<T>): Promise<T> => {
    const { effect, timeoutMs } = call;
    if (signal.aborted) throw abortion(signal);
    const own =
      timeoutMs === undefined
        ? undefined
        : startTimeout(timeoutMs, `the tool took longer than its timeout of ${timeoutMs / 1_000} s`);
    const ends = effect === 'AtMostOnce' ? [unlessStopped.signal, timeout.signal] : [signal];
    const any = AbortSignal.any(own ? [...ends, own.signal] : ends);
    try {
      return await withGrace(effect, any, () => withFreshCredential(attempt, any, call, work));
    } finally {
      own?.stop();
    }
  };
  const { effect, effectKey, credentials } = attempt;
  const context = contextOf(attempt, signal, { effect, effectKey }, (name) => credentials.get(name));
  return { ...context, calls: { ...calls, signal, perform } };
}

function contextOf(
  { run, egress, memory, sandbox, budget, mocks, isSeen, emitText, beginText, log }: Attempt,
  signal: AbortSignal,
  { effect, effectKey }: PerformedCall,
  credential: StepContext['credential'],
): StepContext {
  return {
    run,
    credential,
    egress,
    ...(memory && { memory }),
    ...(sandbox && { sandbox }),
    ...(budget && { budget }),
    ...(mocks && { mocks }),
    signal,
    effect,
    effectKey,
    isSeen,
    emitText,
    beginText,
    log,
  };
}

/** Repeats work with a rejected credential if its Secret has changed since it was read. */
async function withFreshCredential<T>(
  attempt: Attempt,
  signal: AbortSignal,
  call: PerformedCall,
  work: (context: StepContext) => Promise<T>,
): Promise<T> {
  const { credentials } = attempt;
  let used: CredentialAccess | undefined;
  const context = contextOf(attempt, signal, call, async (name) => (used = await credentials.get(name)));
  try {
    return await work(context);
  } catch (error) {
    if (!(error instanceof StepError) || error.reason !== 'CredentialRejected' || !used) throw error;
    if (signal.aborted || !(await credentials.hasChanged(used))) throw error;
    return work(context);
  }
}
