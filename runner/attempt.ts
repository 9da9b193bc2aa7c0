/**
 * One attempt of a step: with a timeout, stoppable, and repeated once if a rejected credential has changed.
 */
import { StepError } from '../api/reasons.ts';
import type { RevisionStep } from '../api/revision.ts';
import type { CodeSandbox } from '../nodes/contract/code.ts';
import type { Egress } from '../nodes/egress/egress.ts';
import {
  abortion,
  inDoubt,
  type CredentialAccess,
  type Effect,
  type NodeLog,
  type StepContext,
  type StepResult,
} from '../nodes/contract/node.ts';
import { executeStep, type StepFields } from '../nodes/step.ts';
import type { CredentialSource } from './credentials.ts';

export type Attempt = {
  step: RevisionStep;
  fields: StepFields;
  effect: Effect;
  effectKey: string;
  run: StepContext['run'];
  credentials: CredentialSource;
  egress: Egress;
  isSeen: StepContext['isSeen'];
  sandbox?: CodeSandbox;
  emitText: (text: string) => void;
  log: NodeLog;
};

/** How long a stopped step may take to end. */
const STOP_GRACE_MS = 5_000;
const LONGEST_TIMER_MS = 2_147_483_647;

/**
 * Executes the attempt until it ends, its timeout has passed, or `stop` is aborted.
 * @throws StepError; other errors are defects
 */
export async function attemptStep(attempt: Attempt, stop: AbortSignal): Promise<StepResult> {
  const { step, effect } = attempt;
  const timeout = new AbortController();
  const timer = setTimeout(
    () =>
      timeout.abort(
        new StepError('Timeout', `the step took longer than its timeout of ${step.timeoutMs / 1_000} s`),
      ),
    Math.min(step.timeoutMs, LONGEST_TIMER_MS),
  );
  const signal = AbortSignal.any([stop, timeout.signal]);
  const unresponsive = Promise.withResolvers<never>();
  let grace: NodeJS.Timeout | undefined;
  signal.addEventListener('abort', () => {
    grace = setTimeout(
      () => unresponsive.reject(inDoubt(effect, abortion(signal), 'the step did not stop')),
      STOP_GRACE_MS,
    );
  });
  try {
    return await Promise.race([withFreshCredential(attempt, signal), unresponsive.promise]);
  } finally {
    clearTimeout(timer);
    clearTimeout(grace);
  }
}

/** Repeats an attempt with a rejected credential if its Secret has changed since it was read. */
async function withFreshCredential(attempt: Attempt, signal: AbortSignal): Promise<StepResult> {
  const { step, fields, credentials, run, egress, sandbox, effect, effectKey, isSeen, emitText, log } =
    attempt;
  let used: CredentialAccess | undefined;
  const credential = async (name: string): Promise<CredentialAccess> => (used = await credentials.get(name));
  const context: StepContext = {
    run,
    credential,
    egress,
    ...(sandbox && { sandbox }),
    signal,
    effect,
    effectKey,
    isSeen,
    emitText,
    log,
  };
  try {
    return await executeStep(step, fields, context);
  } catch (error) {
    if (!(error instanceof StepError) || error.reason !== 'CredentialRejected' || !used) throw error;
    if (signal.aborted || !(await credentials.hasChanged(used))) throw error;
    return executeStep(step, fields, context);
  }
}
