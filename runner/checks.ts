/**
 * Tries credentials when the operator asks for it: several at once, each with a deadline, so that a host that does not answer holds up no
 * other. Each runner of a project may do it; what one takes with it when it ends another takes up.
 */
import { sleep } from '../kube/clock.ts';
import type { Log } from '../kube/log.ts';
import { checkCredential } from '../nodes/check/register.ts';
import type { Egress } from '../nodes/egress/egress.ts';
import { StepError } from '../api/reasons.ts';
import type { CheckResult } from '../api/check.ts';
import { answerCheck, followChecks, takeChecks, type TakenCheck } from '../runs/checks.ts';
import { isUnavailable, type RunStoreConnection } from '../runs/connection.ts';
import type { ProjectUid } from '../runs/types.ts';
import type { CredentialSource } from './credentials.ts';

export type CheckerDeps = {
  conn: RunStoreConnection;
  project: ProjectUid;
  credentials: Pick<CredentialSource, 'fresh'>;
  egress: Egress;
  log: Log;
};

const AT_ONCE = 8;
const PAUSE_MS = 1_000;
/** How long a lost message, or a runner that died with a check, can hold one up. */
const POLL_MS = 5_000;

/** Creates it; `run` tries until the signal is aborted. */
export function createChecker(deps: CheckerDeps): { run(signal: AbortSignal): Promise<void> } {
  return { run: (signal) => run(deps, signal) };
}

async function run(deps: CheckerDeps, signal: AbortSignal): Promise<void> {
  const { conn, project, log } = deps;
  const following = followChecks(conn, project);
  const { asked } = following;
  signal.addEventListener('abort', asked.raise, { once: true });
  let running = 0;
  try {
    while (!signal.aborted) {
      const taken = await takeChecks(conn, project, AT_ONCE - running);
      if (isUnavailable(taken)) {
        await sleep(PAUSE_MS, signal);
        continue;
      }
      for (const each of taken) {
        running += 1;
        void answer(deps, each, signal)
          .catch((error: unknown) => log.error({ err: error }, 'a check could not be answered'))
          .finally(() => {
            running -= 1;
            asked.raise();
          });
      }
      await asked.wait(POLL_MS);
    }
  } finally {
    following.end();
  }
}

async function answer(deps: CheckerDeps, taken: TakenCheck, signal: AbortSignal): Promise<void> {
  const { conn, project, log } = deps;
  const result = await resultOf(deps, taken, signal);
  // What was broken off by our end another runner tries.
  if (signal.aborted) return;
  const { name } = taken.request;
  log.debug({ credential: name, works: result.works }, 'credential tried');
  const stored = await answerCheck(conn, project, taken, result);
  if (isUnavailable(stored)) log.debug({ credential: name }, 'the answer to a check was not stored');
}

async function resultOf(
  { credentials, egress, log }: CheckerDeps,
  { request: { name, spec } }: TakenCheck,
  signal: AbortSignal,
): Promise<CheckResult> {
  try {
    return await checkCredential(await credentials.fresh(name, spec), { egress, signal });
  } catch (error) {
    if (error instanceof StepError) return { works: false, reason: 'NotChecked', message: error.message };
    log.error({ credential: name, err: error }, 'check failed by a defect');
    const message = 'a defect of Windlass; the log of the runner has the details';
    return { works: false, reason: 'NotChecked', message };
  }
}
