/** All that a project has, as text, so that what is the same text is unchanged. */
import {
  controllerRevisions,
  deployments,
  roleBindings,
  roles,
  secrets,
  serviceAccounts,
  type KubeObject,
  type Resource,
} from '../../../kube/resource.ts';
import { credentials, webhookRoutes, workflowRuns, workflows } from '../../../operator/shared/resources.ts';
import type { RunStoreConnection } from '../../../store/connection.ts';
import { forEachPage } from '../../../store/scan.ts';
import type { OperatorHarness } from '../operator/operatorHarness.ts';

const KEPT: Resource[] = [
  secrets,
  serviceAccounts,
  roles,
  roleBindings,
  deployments,
  controllerRevisions,
  credentials,
  workflows,
  workflowRuns,
  webhookRoutes,
];

/**
 * All that the victim has, in the API server and in the run store, but for what changes by itself: totals and
 * times of reconciliation; and the accounts of the run store. A line each.
 */
export async function snapshotProject({
  harness,
  store,
  victim,
}: {
  harness: Pick<OperatorHarness, 'client'>;
  store: RunStoreConnection;
  victim: { namespace: string; uid: string };
}): Promise<string[]> {
  const objects = await Promise.all(
    KEPT.map(async (resource) => {
      const { items } = await harness.client.listAll(resource, { namespace: victim.namespace });
      return items.map((object) => essence(resource, object));
    }),
  );
  const names = await keysIn(store, victim.uid);
  const contents = await Promise.all(
    names.map(async (name) => `${name} ${JSON.stringify(await contentOf(store, name))}`),
  );
  return [...objects.flat(), ...contents, ...((await store.command('acl', 'list')) as string[])];
}

/**
 * How fast records may be written, and how much may be stored, is told each project again whenever another
 * one comes or goes. The rest moves with the time.
 */
const TUNED = ['rate', 'tokens', 'filled', 'quota', 'claimQuota', 'keyQuota', 'settled', 'clock', 'ahead'];

async function contentOf(store: RunStoreConnection, name: string): Promise<unknown> {
  if (!name.endsWith(':meta')) return store.command('dump', name);
  const fields = (await store.command('hgetall', name)) as Record<string, string>;
  return Object.entries(fields).filter(([field]) => !TUNED.includes(field));
}

/** The names of all keys of a project. */
export async function keysIn(store: RunStoreConnection, uid: string): Promise<string[]> {
  const names = new Set<string>();
  await forEachPage(store, `wl:{${uid}}:*`, async (page) => {
    for (const name of page) names.add(name);
  });
  return [...names].toSorted();
}

function essence({ kind, plural }: Resource, { metadata, ...rest }: KubeObject): string {
  const { name, uid, labels, annotations, ownerReferences, finalizers, deletionTimestamp } = metadata;
  const kept = { name, uid, labels, annotations, ownerReferences, finalizers, deletionTimestamp };
  const { status: _status, ...content } = rest as Record<string, unknown>;
  return `${kind} ${JSON.stringify([kept, plural === workflowRuns.plural ? rest : content])}`;
}
