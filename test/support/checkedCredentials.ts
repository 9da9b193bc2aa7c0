/** Stands in for runners that try credentials, where there are none: whatever the operator asks for works. */
import { answerCheck, followChecks, takeChecks } from '../../runs/checks.ts';
import { isUnavailable, type RunStoreConnection } from '../../runs/connection.ts';

/** How long a lost message can hold an answer up, as in a runner. */
const LOOK_MS = 1_000;
const MANY = 100;

/** Answers the checks of each project that it is told of, until the signal is aborted; `ended` resolves after that. */
export function createCheckAnswers(conn: RunStoreConnection, signal: AbortSignal) {
  const served = new Map<string, Promise<void>>();
  return {
    serve: (project: string): void => {
      if (!served.has(project)) served.set(project, answerAll(conn, project, signal));
    },
    ended: async (): Promise<void> => {
      await Promise.all(served.values());
    },
  };
}

async function answerAll(conn: RunStoreConnection, project: string, signal: AbortSignal): Promise<void> {
  const following = followChecks(conn, project);
  const { asked } = following;
  signal.addEventListener('abort', asked.raise, { once: true });
  while (!signal.aborted) {
    const taken = await takeChecks(conn, project, MANY);
    for (const each of isUnavailable(taken) ? [] : taken)
      await answerCheck(conn, project, each, { works: true, message: 'It works.' });
    await asked.wait(LOOK_MS);
  }
  following.end();
}
