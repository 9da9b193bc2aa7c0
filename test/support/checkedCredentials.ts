/** Stands in for runners that try credentials, where there are none: whatever the operator asks for works. */
import { sleep } from '../../kube/clock.ts';
import { answerCheck, takeChecks } from '../../runs/checks.ts';
import { isUnavailable, type RunStoreConnection } from '../../runs/connection.ts';

const EVERY_MS = 200;
const MANY = 100;

/** Answers all checks of the projects until the signal is aborted. */
export async function answerChecks(
  conn: RunStoreConnection,
  projects: () => readonly string[],
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await Promise.all(projects().map((project) => answerAll(conn, project)));
    await sleep(EVERY_MS, signal);
  }
}

async function answerAll(conn: RunStoreConnection, project: string): Promise<void> {
  const taken = await takeChecks(conn, project, MANY);
  if (isUnavailable(taken)) return;
  for (const each of taken) await answerCheck(conn, project, each, { works: true, message: 'It works.' });
}
