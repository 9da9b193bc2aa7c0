/** Waits until an example is ready, and says meanwhile what it waits for. */
import type { Condition } from '../../kube/resource.ts';
import { getJson } from '../support/cluster/kubectl.ts';
import { waitForReady } from '../support/installation/install.ts';
import type { Update } from '../support/process/progress.ts';
import { pollUntil } from '../support/time/poll.ts';
import type { Demo } from './runs.ts';

/** Longer than it may take to become ready. */
const TOLD_MS = 120_000;

/** Throws, with the conditions of the workflow, when it does not become ready in time. */
export async function showReady(
  { cluster, project }: Pick<Demo, 'cluster' | 'project'>,
  example: string,
  update: Update,
): Promise<void> {
  let hasEnded = false;
  const isReady = waitForReady(cluster, example, project).finally(() => {
    hasEnded = true;
  });
  const tellAwaited = async (): Promise<boolean> => {
    type Found = { status?: { conditions?: Condition[] } };
    const { status } = await getJson<Found>(cluster, '-n', project, 'workflows.windlass.dev', example);
    update(awaitedIn(status?.conditions ?? []));
    return hasEnded;
  };
  const isTold = pollUntil('the end of the wait', async () => hasEnded || tellAwaited(), {
    timeoutMs: TOLD_MS,
    everyMs: 1_000,
  });
  await Promise.all([isReady, isTold]);
}

/** A line of a terminal must hold it. */
const WIDTH = 60;

/** The condition that keeps the workflow from being ready, with the first sentence of its message. */
export function awaitedIn(conditions: readonly Condition[]): string {
  const ready = conditions.find(({ type }) => type === 'Ready');
  if (ready === undefined) return 'the operator has not checked it yet';
  const cause = conditions.find(
    ({ type, status, reason }) => type !== 'Ready' && status !== 'True' && reason === ready.reason,
  );
  const [sentence = ''] = (cause ?? ready).message.split(/\.\s|\.$/);
  const text = cause === undefined ? sentence : `${cause.type}: ${sentence}`;
  return text.length > WIDTH ? `${text.slice(0, WIDTH)}…` : text;
}
