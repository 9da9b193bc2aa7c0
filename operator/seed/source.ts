/**
 * The source for seeding a run store: what routes serve, the dedupe keys of recorded runs, and unfinished
 * runs. The latter are read from the API server, page by page, at the rate of the pacer.
 */
import type { WorkflowRun, Workflow } from '../../api/kinds.ts';
import { projectBudget } from '../../api/budget.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Clock } from '../../kube/clock.ts';
import { isGone } from '../../kube/errors.ts';
import { controllerOf, controllerRevisions } from '../../kube/resource.ts';
import { dedupeMarkOf } from '../../runs/record/restoreAnnotations.ts';
import type { Callee } from '../../runs/callees.ts';
import type { RecordedKey } from '../../runs/seed.ts';
import type { WorkflowLimits } from '../../runs/types/limits.ts';
import type { RunStoreConnection } from '../../store/connection.ts';
import type { OperatorConfig } from '../shared/config.ts';
import type { Pacer } from '../shared/pacer.ts';
import { workflowRuns } from '../shared/resources.ts';
import { endLost, planFor, type Revisions } from '../run/recovery.ts';
import type { Caches } from '../shared/caches.ts';
import { projectVariables } from '../shared/caches.ts';
import type { RestorePlan } from '../run/restorePlan.ts';
import type { ListPosition, SeedSource, ServedWorkflow } from '../store/seed.ts';
import type { ProjectUid } from '../../store/keys.ts';
import type { Revision } from '../../api/revision.ts';
import type { RouteSpec } from '../../api/route.ts';
import type { PolledTrigger } from '../../store/polling/triggers.ts';
import { withDefaults, workflowDefaults } from '../shared/projectSettings.ts';
import { isRevisionOf, type NamedRevision } from '../shared/revisions.ts';
import { limitsOf } from '../store/limits.ts';
import { baselineOf, triggerOf } from '../poll/trigger.ts';

export type SourceDeps = {
  client: KubeClient;
  caches: Caches;
  clock: Clock;
  pacer: Pacer;
  conn: RunStoreConnection;
  config: OperatorConfig;
};

/** A record can exceed half a megabyte. */
const PAGE = 20;
const UNFINISHED = ['Succeeded', 'Failed', 'Cancelled'].map((phase) => `status.phase!=${phase}`).join(',');

/** Creates the source. */
export function createSeedSource(deps: SourceDeps): SeedSource {
  const { client, caches } = deps;
  return {
    served: (project) => servedWorkflows(client, caches, project),
    keys: (project) => recordedKeys(caches, namespaceOf(caches, project)),
    unfinished: (project, position) => unfinishedRuns(deps, project, position),
  };
}

function namespaceOf({ namespaces }: Caches, project: ProjectUid): string | undefined {
  return namespaces.list().find(({ metadata }) => metadata.uid === project)?.metadata.name;
}

function recordedKeys({ runs }: Caches, namespace: string | undefined): RecordedKey[] {
  if (namespace === undefined) return [];
  return runs.list(namespace).flatMap((run) => {
    const mark = dedupeMarkOf(run.metadata.annotations);
    const workflowUid = controllerOf(run)?.uid;
    if (!mark || workflowUid === undefined) return [];
    return [{ ...mark, workflowUid, run: run.metadata.name }];
  });
}

async function* unfinishedRuns(
  deps: SourceDeps,
  project: ProjectUid,
  position: ListPosition,
): ReturnType<SeedSource['unfinished']> {
  const namespace = namespaceOf(deps.caches, project);
  if (namespace === undefined) return;
  const revisions: Revisions = new Map();
  for await (const runs of pagesOf(deps, namespace, position)) {
    const page: Extract<RestorePlan, { kind: 'restore' }>[] = [];
    for (const run of runs) {
      const plan = await planFor(deps, run, revisions);
      if (plan.kind === 'restore') page.push(plan);
      if (plan.kind !== 'end') continue;
      await deps.pacer.take();
      await endLost(deps, project, run, plan.ending);
    }
    yield page;
  }
}

/** After an interruption, the unfinished page comes again, or all pages if the continue token has expired. */
async function* pagesOf(
  { client, pacer }: SourceDeps,
  namespace: string,
  position: ListPosition,
): AsyncGenerator<WorkflowRun[]> {
  const options = { namespace, fieldSelector: UNFINISHED, limit: PAGE };
  do {
    await pacer.take();
    const page = await client.list(workflowRuns, { ...options, ...position }).catch((error: unknown) => {
      if (!isGone(error) || position.continue === undefined) throw error;
      delete position.continue;
      return client.list(workflowRuns, options);
    });
    yield page.items;
    if (page.metadata.continue) position.continue = page.metadata.continue;
    else delete position.continue;
  } while (position.continue !== undefined);
}

/**
 * Reads what routes serve. A revision that no longer exists, or is of another owner, is left out; its limits
 * are not.
 */
export async function servedWorkflows(
  client: Pick<KubeClient, 'find'>,
  {
    namespaces,
    routes,
    workflows,
    credentials,
    settings,
    variables,
  }: Pick<Caches, 'namespaces' | 'routes' | 'workflows' | 'credentials' | 'settings' | 'variables'>,
  project: ProjectUid,
): Promise<ServedWorkflow[]> {
  const { name: namespace, annotations } =
    namespaces.list().find(({ metadata }) => metadata.uid === project)?.metadata ?? {};
  const found: ServedWorkflow[] = [];
  if (namespace === undefined) return found;
  const { values } = projectVariables({ variables }, namespace);
  const defaults = workflowDefaults({ settings }, namespace);
  const budget = projectBudget(annotations);
  for (const { spec } of routes.list(namespace)) {
    const revision = await ownRevision(client, namespace, spec);
    const own = workflows.get(namespace, spec.workflow);
    const workflow = own && withDefaults(own, defaults);
    const ofWorkflow =
      workflow?.metadata.uid === spec.workflowUID
        ? stateOf(
            limitsOf(workflow, (name) => routes.get(namespace, name), budget),
            workflow,
            revision && triggerOf(workflow, spec, (name) => credentials.get(namespace, name)),
          )
        : {};
    if (revision || ofWorkflow.limits)
      found.push({
        ...(revision && { revision }),
        ...(revision && ofWorkflow.limits && { callee: calleeOf(spec, workflow) }),
        ...ofWorkflow,
        variables: values,
      });
  }
  return found;
}

function calleeOf({ workflow, workflowUID, revision }: RouteSpec, served: Workflow | undefined): Callee {
  const { description = '' } = served?.spec ?? {};
  return { name: workflow, workflowUid: workflowUID, revision, description };
}

/** Runs of earlier revisions need the limits, too: they must not start while the workflow is suspended. */
function stateOf(
  limits: WorkflowLimits,
  workflow: Workflow,
  trigger: PolledTrigger | undefined,
): Omit<ServedWorkflow, 'revision'> {
  const polled = trigger && { trigger, ...baselineOf(workflow) };
  return { limits, ...(polled && { polled }) };
}

async function ownRevision(
  client: Pick<KubeClient, 'find'>,
  namespace: string,
  { revision: name, workflowUID }: RouteSpec,
): Promise<NamedRevision | undefined> {
  const object = await client.find(controllerRevisions, { namespace, name });
  return object && isRevisionOf(object, workflowUID)
    ? { name, revision: object.data as Revision }
    : undefined;
}
