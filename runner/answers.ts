/**
 * Answers what the operator asks the runners of a project: several questions at once, so that one that takes
 * long holds up no other. Each runner may do it; what one takes with it when it ends another takes up.
 */
import { sleep } from '../kube/clock.ts';
import type { Log } from '../kube/log.ts';
import { isUnavailable, type RunStoreConnection } from '../runs/connection.ts';
import type { Questions, Taken } from '../runs/questions.ts';
import type { ProjectUid } from '../runs/types.ts';

export type AnswersDeps = { conn: RunStoreConnection; project: ProjectUid; log: Log };

const AT_ONCE = 8;
const PAUSE_MS = 1_000;
/** How long a lost message, or a runner that died with a question, can hold one up. */
const POLL_MS = 5_000;

/**
 * Answers until the signal is aborted. `resultOf` ends within its deadline, and throws only what is a defect.
 */
export async function answerQuestions<Q extends { name: string }, R extends { works: boolean }>(
  { conn, project, log }: AnswersDeps,
  questions: Questions<Q, R>,
  resultOf: (taken: Taken<Q>, signal: AbortSignal) => Promise<R>,
  signal: AbortSignal,
): Promise<void> {
  const answer = async (taken: Taken<Q>): Promise<void> => {
    const result = await resultOf(taken, signal);
    // What was broken off by our end another runner does.
    if (signal.aborted) return;
    const { name } = taken.request;
    log.debug({ credential: name, works: result.works }, 'credential tried');
    const stored = await questions.answer(conn, project, taken, result);
    if (isUnavailable(stored)) log.debug({ credential: name }, 'what was found was not stored');
  };
  const following = questions.follow(conn, project);
  const { asked } = following;
  signal.addEventListener('abort', asked.raise, { once: true });
  let running = 0;
  try {
    while (!signal.aborted) {
      const taken = await questions.take(conn, project, AT_ONCE - running);
      if (isUnavailable(taken)) {
        await sleep(PAUSE_MS, signal);
        continue;
      }
      for (const each of taken) {
        running += 1;
        void answer(each)
          .catch((error: unknown) => log.error({ err: error }, 'the operator could not be answered'))
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

/** What is said of a defect; the log has the rest. */
export const DEFECT = {
  works: false,
  reason: 'NotChecked',
  message: 'a defect of Windlass; the log of the runner has the details',
} as const;
