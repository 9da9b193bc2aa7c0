/**
 * Handles requests of the operator to the runners of a project: checks of credentials and registrations of
 * bots. Requests are handled concurrently, so that a slow one does not delay others. Any runner may handle a
 * request; one that a runner leaves unanswered is handled by another.
 */
import type { CheckResult } from '../api/check.ts';
import { StepError } from '../api/reasons.ts';
import { sleep } from '../kube/clock.ts';
import type { Log } from '../kube/log.ts';
import { checkCredential } from '../nodes/checks.ts';
import type { Egress } from '../nodes/egress/egress.ts';
import { CHECKS, type TakenCheck } from '../store/requests/checks.ts';
import { isUnavailable, type RunStoreConnection } from '../store/connection.ts';
import type { Pace } from '../runs/pace.ts';
import type { Requests, Taken } from '../store/requests/requests.ts';
import type { ProjectUid } from '../store/keys.ts';
import type { CredentialSource } from './credentials.ts';

export type RequestDeps = {
  conn: RunStoreConnection;
  project: ProjectUid;
  credentials: Pick<CredentialSource, 'fresh'>;
  egress: Egress;
  log: Log;
  /** When to read requests. */
  pace: Pace;
};

const CONCURRENCY = 8;
const PAUSE_MS = 1_000;
/** How long a lost message, or a runner that died with a request, can delay one where the runner is busy. */
const POLL_MS = 5_000;

/**
 * Handles requests until the signal is aborted. `resultOf` must end within its deadline, and throws only for
 * defects.
 */
export async function answerRequests<Q extends { name: string }, R extends { works: boolean }>(
  { conn, project, log, pace }: Pick<RequestDeps, 'conn' | 'project' | 'log' | 'pace'>,
  requests: Requests<Q, R>,
  resultOf: (taken: Taken<Q>, signal: AbortSignal) => Promise<R>,
  signal: AbortSignal,
): Promise<void> {
  const answer = async (taken: Taken<Q>): Promise<void> => {
    const result = await resultOf(taken, signal);
    // Another runner handles a request that our shutdown interrupted.
    if (signal.aborted) return;
    const { name } = taken.request;
    log.debug({ credential: name, works: result.works }, 'request answered');
    const stored = await requests.answer(conn, project, taken, result);
    if (isUnavailable(stored)) log.debug({ credential: name }, 'storing the result failed');
  };
  const following = requests.follow(conn, project, pace.raise);
  let running = 0;
  try {
    while (!signal.aborted) {
      const taken = await requests.take(conn, project, CONCURRENCY - running);
      if (isUnavailable(taken)) {
        await sleep(PAUSE_MS, signal);
        continue;
      }
      for (const each of taken) {
        running += 1;
        void answer(each)
          .catch((error: unknown) => log.error({ err: error }, 'replying to the operator failed'))
          .finally(() => {
            running -= 1;
            pace.raise();
          });
      }
      await pace.wait({ busyMs: POLL_MS }, signal);
    }
  } finally {
    following.end();
  }
}

/** The result after a defect; the log has the details. */
export const DEFECT = {
  works: false,
  reason: 'NotChecked',
  message: 'internal error: see the log of the runner',
} as const;

/** Checks credentials until the signal is aborted, each with a deadline. */
export async function answerChecks(deps: RequestDeps, signal: AbortSignal): Promise<void> {
  await answerRequests(deps, CHECKS, (taken) => check(deps, taken, signal), signal);
}

async function check(
  { credentials, egress, log }: RequestDeps,
  { request: { name, spec } }: TakenCheck,
  signal: AbortSignal,
): Promise<CheckResult> {
  try {
    return await checkCredential(await credentials.fresh(name, spec), { egress, signal });
  } catch (error) {
    if (error instanceof StepError) return { works: false, reason: 'NotChecked', message: error.message };
    log.error({ credential: name, err: error }, 'check failed unexpectedly');
    return DEFECT;
  }
}
