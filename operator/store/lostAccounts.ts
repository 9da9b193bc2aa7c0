/**
 * Finds runner pools whose account in the run store is gone: a server that starts without its volume has
 * none. One call for all projects.
 */
import { untilBeat } from '../../kube/beat.ts';
import { isUnavailable, orUnavailable } from '../../store/connection.ts';
import { projectOf } from '../shared/caches.ts';
import type { OperatorContext } from '../shared/context.ts';
import type { StoreChanges } from './changes.ts';

const EVERY_MS = 30_000;

type Context = Pick<OperatorContext, 'accounts' | 'caches' | 'clock' | 'log'> & {
  storeChanges: Pick<StoreChanges, 'project'>;
};

/** Reports each project whose pool has no account, again each time, until the signal is aborted. */
export async function watchLostAccounts(context: Context, signal: AbortSignal): Promise<void> {
  const { clock, log } = context;
  while (!signal.aborted) {
    await reportLost(context).catch((error: unknown) => {
      log.warn({ err: error }, 'cannot list the run store accounts');
    });
    await untilBeat(EVERY_MS, signal, clock);
  }
}

async function reportLost({ accounts, caches, storeChanges }: Context): Promise<void> {
  const pools = caches.deployments.list().flatMap(({ metadata: { namespace } }) => {
    const project = projectOf(caches, namespace);
    return project === undefined ? [] : [{ project, namespace: namespace ?? '' }];
  });
  const missing = await orUnavailable(() => accounts.missing(pools.map(({ project }) => project)));
  if (isUnavailable(missing)) return;
  const lost = new Set(missing);
  for (const { project, namespace } of pools) if (lost.has(project)) storeChanges.project.notify(namespace);
}
