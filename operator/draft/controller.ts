/** Removes drafts that nobody needs any more. It reads the metadata of drafts alone, some times a day. */
import { after, done, type Action, type Key } from '../../kube/controller.ts';
import { isConflict, isNotFound } from '../../kube/errors.ts';
import { collectionPath } from '../../kube/paths.ts';
import type { Caches } from '../shared/caches.ts';
import type { OperatorContext } from '../shared/context.ts';
import { watch, type Controller } from '../shared/controller.ts';
import type { Pacer } from '../shared/pacer.ts';
import { drafts } from '../shared/resources.ts';
import { draftList, expiredDrafts, type DraftMetadata } from './removal.ts';

const EVERY_MS = 6 * 3_600_000;
const METADATA = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';

type DraftContext = Pick<OperatorContext, 'clock' | 'log'> & {
  caches: { [Kind in 'namespaces' | 'workflows']: Pick<Caches[Kind], 'get'> };
  client: Pick<OperatorContext['client'], 'raw' | 'delete'>;
  pacer: Pacer;
};

export const draftController: Controller<DraftContext & Pick<OperatorContext, 'caches'>> = {
  name: 'draft',
  concurrency: 1,
  watches: [
    watch(
      ({ namespaces }) => namespaces,
      ({ metadata }, change) => (change.type === 'added' ? [{ namespace: '', name: metadata.name }] : []),
    ),
  ],
  reconcile: removeDrafts,
};

/** Removes those of the project that are too old; again some hours later. */
export async function removeDrafts({ name: namespace }: Key, context: DraftContext): Promise<Action> {
  const { caches, client, clock, log, pacer } = context;
  if (caches.namespaces.get(undefined, namespace) === undefined) return done();
  const all = await listed(namespace, context);
  const hasWorkflow = (name: string) => caches.workflows.get(namespace, name) !== undefined;
  for (const { name, uid, resourceVersion } of expiredDrafts(all, hasWorkflow, clock.date())) {
    await pacer.take();
    try {
      await client.delete(drafts, { namespace, name }, { preconditions: { uid, resourceVersion } });
      log.info({ namespace, name }, 'removed stale draft');
    } catch (error) {
      // Somebody changed it meanwhile.
      if (!isConflict(error)) throw error;
    }
  }
  return after(EVERY_MS);
}

/** The drafts of a project. Where the definition of drafts is not installed, there are none. */
async function listed(namespace: string, { client }: DraftContext): Promise<DraftMetadata[]> {
  try {
    const list = await client.raw('GET', collectionPath(drafts, namespace), { accept: METADATA });
    return draftList.parse(list).items.map(({ metadata }) => metadata);
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}
