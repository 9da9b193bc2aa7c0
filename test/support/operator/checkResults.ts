/**
 * Stands in for runners that try credentials and register bots, where there are none: whatever the operator
 * asks for works.
 */
import { createPollingPace } from '../../../runs/pace.ts';
import { CHECKS } from '../../../store/requests/checks.ts';
import { isUnavailable, type RunStoreConnection } from '../../../store/connection.ts';
import type { Requests } from '../../../store/requests/requests.ts';
import { REGISTRATIONS } from '../../../store/requests/registrations.ts';

/** How long a lost message can hold an answer up, as in a runner. */
const CHECK_MS = 1_000;
const MANY = 100;

/**
 * Answers what is asked in each project that it is told of, until the signal is aborted; `ended` resolves
 * after that.
 */
export function createCheckAnswers(conn: RunStoreConnection, signal: AbortSignal) {
  const served = new Map<string, Promise<unknown>>();
  const answerBoth = (project: string): Promise<unknown> =>
    Promise.all([
      answerAll({ conn, project, signal }, CHECKS, () => ({ works: true, message: 'It works.' })),
      answerAll({ conn, project, signal }, REGISTRATIONS, ({ url }) => ({
        works: true as const,
        ...(url !== undefined && { url }),
      })),
    ]);
  return {
    serve: (project: string): void => {
      if (!served.has(project)) served.set(project, answerBoth(project));
    },
    ended: async (): Promise<void> => {
      await Promise.all(served.values());
    },
  };
}

type Place = { conn: RunStoreConnection; project: string; signal: AbortSignal };

async function answerAll<Q, R>(
  { conn, project, signal }: Place,
  questions: Requests<Q, R>,
  resultOf: (request: Q) => R,
): Promise<void> {
  const pace = createPollingPace();
  const following = questions.follow(conn, project, pace.raise);
  while (!signal.aborted) {
    const taken = await questions.take(conn, project, MANY);
    for (const each of isUnavailable(taken) ? [] : taken)
      await questions.answer(conn, project, each, resultOf(each.request));
    await pace.wait({ busyMs: CHECK_MS }, signal);
  }
  following.end();
}
