/** What causes a workflow to be reconciled. */
import { projectBudget } from '../../api/budget.ts';
import { LABEL } from '../../api/group.ts';
import type { WebhookRoute, Workflow } from '../../api/kinds.ts';
import type { Change } from '../../kube/cache.ts';
import { canonicalJson } from '../../kube/json.ts';
import { enqueueOwner, keyOf, type Key } from '../../kube/controller.ts';
import { objectKey, type Namespace } from '../../kube/resource.ts';
import { requestedBot } from '../bots/route.ts';
import type { Counts } from '../counts/controller.ts';
import type { GatewayView } from '../gateways/view.ts';
import type { Pools } from '../pods/pools.ts';
import type { Polls } from '../poll/polls.ts';
import { changesPool } from '../project/readiness.ts';
import type { Registrations } from '../registration/registrations.ts';
import type { ScalingState } from '../scaling/state.ts';
import { isOfInterest } from '../schedule/failing.ts';
import { BY_CREDENTIAL, BY_STARTED, BY_UID, inNamespaceOf, type Caches } from '../shared/caches.ts';
import { ifSpecChanged, subscribe, watch, type Watch } from '../shared/controller.ts';
import type { StoreChanges } from '../store/changes.ts';

type WatchContext = {
  caches: Caches;
  storeChanges: Pick<StoreChanges, 'lost' | 'full'>;
  gateways: Pick<GatewayView, 'onChange'>;
  registrations: Pick<Registrations, 'changed'>;
  polls: Pick<Polls, 'healthChanged'>;
  pools: Pick<Pools, 'accessChanged'>;
  scaling: Pick<ScalingState, 'otherScalersChanged'>;
  counts: Pick<Counts, 'limitsMissing'>;
};

const ofWorkflow = enqueueOwner('Workflow');
const itself = (key: Key): Key[] => [key];
const inNamespace = (namespace: string | undefined, { workflows }: Caches): Key[] =>
  workflows.list(namespace).map(keyOf);
/** The workflows that name a credential. */
const usersOf = (credential: Key, { workflows }: Caches): Key[] =>
  workflows.byIndex(BY_CREDENTIAL, objectKey(credential)).map(keyOf);
/** The workflows of a namespace that ask for a bot: another workflow may have released it. */
const botUsersIn = (namespace: string | undefined, { workflows }: Caches): Key[] =>
  workflows
    .list(namespace)
    .filter((workflow) => requestedBot(workflow))
    .map(keyOf);

export const watches: readonly Watch<WatchContext>[] = [
  watch(({ workflows }) => workflows),
  watch(({ routes }) => routes),
  watch(
    ({ routes }) => routes,
    ({ metadata }, change, caches) => (releasesBot(change) ? botUsersIn(metadata.namespace, caches) : []),
  ),
  watch(
    ({ routes }) => routes,
    ifSpecChanged(({ metadata }, _change, { workflows }) =>
      workflows
        .list(metadata.namespace)
        .filter(({ spec }) => spec.onFailure?.workflow === metadata.name)
        .map(keyOf),
    ),
  ),
  watch(
    ({ workflows }) => workflows,
    ifSpecChanged(({ metadata, spec }, _change, caches) =>
      spec.nodes.some((node) => node.bot) ? botUsersIn(metadata.namespace, caches) : [],
    ),
  ),
  watch(
    ({ workflows }) => workflows,
    ifSpecChanged((started, _change, caches) => startersOf(started, caches).map(keyOf)),
  ),
  watch(({ revisions }) => revisions, ofWorkflow),
  watch(
    ({ cronJobs }) => cronJobs,
    (cronJob, change, { workflows }) =>
      ofWorkflow(cronJob).filter(({ namespace, name }) =>
        isOfInterest(change, workflows.get(namespace, name)),
      ),
  ),
  watch(
    ({ credentials }) => credentials,
    (credential, _change, { workflows }) =>
      workflows.byIndex(BY_CREDENTIAL, inNamespaceOf(credential, credential.metadata.name)).map(keyOf),
  ),
  watch(
    ({ variables }) => variables,
    ({ metadata }, _change, caches) => inNamespace(metadata.namespace, caches),
  ),
  watch(
    ({ deployments }) => deployments,
    ({ metadata }, change, caches) =>
      change.type !== 'updated' || changesPool(change.old, change.object)
        ? inNamespace(metadata.namespace, caches)
        : [],
  ),
  watch(
    ({ namespaces }) => namespaces,
    ({ metadata }, change, caches) => (changesWorkflows(change) ? inNamespace(metadata.name, caches) : []),
  ),
  watch(
    ({ settings }) => settings,
    ifSpecChanged(({ metadata }, _change, caches) => inNamespace(metadata.namespace, caches)),
  ),
  subscribe(
    ({ gateways }: WatchContext) => gateways,
    (changed, { routes }) =>
      (changed === 'all' ? routes.list() : changed.flatMap((uid) => routes.byIndex(BY_UID, uid))).map(keyOf),
  ),
  subscribe(({ storeChanges }: WatchContext) => storeChanges.lost, inNamespace),
  subscribe(({ storeChanges }: WatchContext) => storeChanges.full, inNamespace),
  subscribe(({ pools }: WatchContext) => pools.accessChanged, inNamespace),
  subscribe(({ scaling }: WatchContext) => scaling.otherScalersChanged, inNamespace),
  subscribe(({ registrations }: WatchContext) => registrations.changed, usersOf),
  subscribe(({ polls }: WatchContext) => polls.healthChanged, itself),
  subscribe(({ counts }: WatchContext) => counts.limitsMissing, itself),
];

/** The workflows that start runs of the workflow, directly or through others. */
function startersOf({ metadata: { namespace = '', name } }: Workflow, { workflows }: Caches): Workflow[] {
  const names = new Set([name]);
  const found: Workflow[] = [];
  for (const started of names) {
    for (const starter of workflows.byIndex(BY_STARTED, objectKey({ namespace, name: started }))) {
      if (names.has(starter.metadata.name)) continue;
      names.add(starter.metadata.name);
      found.push(starter);
    }
  }
  return found;
}

/** Whether the namespace is new, or its label that refuses public webhooks or its budget changed. */
function changesWorkflows(change: Change<Namespace>): boolean {
  if (change.type === 'deleted') return false;
  const label = ({ metadata }: Namespace): string | undefined => metadata.labels?.[LABEL.requireAuth];
  const budget = ({ metadata }: Namespace): string =>
    canonicalJson(projectBudget(metadata.annotations) ?? null);
  if (change.type === 'added') return true;
  return label(change.old) !== label(change.object) || budget(change.old) !== budget(change.object);
}

/** Whether a route had a bot and no longer has the same one. */
function releasesBot(change: Change<WebhookRoute>): boolean {
  if (change.type === 'added') return false;
  const { bot } = change.type === 'updated' ? change.old.spec : change.object.spec;
  return (
    bot !== undefined && (change.type === 'deleted' || bot.credential !== change.object.spec.bot?.credential)
  );
}
