/**
 * The credentials of earlier revisions that unfinished runs may still use. Runners may read their Secrets
 * until the workflow is seen without unfinished runs; a workflow that is never idle keeps them.
 */
import type { Workflow } from '../../api/kinds.ts';
import type { ControllerRevision } from '../../kube/resource.ts';
import { hasUnfinishedRuns } from '../../runs/read.ts';
import type { OperatorContext } from '../shared/context.ts';
import { isOfDraft, isRevisionOf, revisionsInUse } from '../shared/revisions.ts';
import { credentialRefs, type RevisionCredentials } from '../shared/credentialRefs.ts';
import { BY_WORKFLOW, inNamespaceOf, type Caches } from '../shared/caches.ts';
import type { ProjectUid } from '../../store/keys.ts';

/** For this long, a gateway may still accept events for the previous revision. */
const SETTLING_MS = 30_000;

type OlderContext = Pick<OperatorContext, 'conn' | 'clock'> & {
  caches: Pick<Caches, 'workflows' | 'revisions' | 'runs' | 'routes'>;
};

/**
 * The served revision of a workflow, and since when; `since` is undefined once no run of an older revision
 * was left.
 */
type ServedRevision = { revision: string | undefined; since: number | undefined };
export type Served = ReadonlyMap<string, ServedRevision>;

/** Whether time alone may change the result of `olderCredentials`: runs of earlier revisions may end. */
export function mayChange({ names, served }: { names: readonly string[]; served: Served }): boolean {
  return names.length > 0 || [...served.values()].some(({ since }) => since !== undefined);
}

/**
 * The names of those credentials in a project, and the state for the next call. Without `before`, the
 * operator has just started, and edits are older than the settling time.
 */
export async function olderCredentials(
  context: OlderContext,
  { namespace, uid }: { namespace: string; uid: ProjectUid },
  before: Served | undefined,
): Promise<{ names: string[]; served: Served }> {
  const { caches } = context;
  const names: string[] = [];
  const served = new Map<string, ServedRevision>();
  for (const workflow of caches.workflows.list(namespace)) {
    const open = openRevisions(caches, workflow);
    // A draft was never in effect: no other run than those that name its revision executes it.
    const own = revisionsOf(caches, workflow).filter(
      (revision) => !isOfDraft(revision) || open.has(revision.metadata.name),
    );
    const present = credentialRefs(workflow.spec).map(({ name }) => name);
    const others = namesIn(own).filter((name) => !present.includes(name));
    if (others.length === 0) continue;
    const { uid: workflowUid = '' } = workflow.metadata;
    const last = { isFirst: before === undefined, served: before?.get(workflowUid) };
    const { mayHave, ...now } = await olderRuns(context, workflow, uid, last);
    served.set(workflowUid, now);
    names.push(...(mayHave ? others : namesIn(own.filter(({ metadata }) => open.has(metadata.name)))));
  }
  return { names, served };
}

async function olderRuns(
  { caches, clock, conn }: OlderContext,
  { metadata }: Workflow,
  project: ProjectUid,
  last: { isFirst: boolean; served: ServedRevision | undefined },
): Promise<ServedRevision & { mayHave: boolean }> {
  const { uid = '', namespace, name } = metadata;
  const revision = caches.routes.get(namespace, name)?.spec.revision;
  const same = last.served?.revision === revision ? last.served : undefined;
  if (same && same.since === undefined) return { ...same, mayHave: false };
  const since = same?.since ?? clock.now();
  // An unavailable run store may hold some.
  if ((await hasUnfinishedRuns(conn, project, uid)) !== false) return { mayHave: true, revision, since };
  const isSettled = last.isFirst || clock.now() - since >= SETTLING_MS;
  return { mayHave: !isSettled, revision, since: isSettled ? undefined : since };
}

const keyOf = (workflow: Workflow) => inNamespaceOf(workflow, workflow.metadata.name);
const openRevisions = ({ runs }: Pick<Caches, 'runs'>, workflow: Workflow) =>
  revisionsInUse(runs.byIndex(BY_WORKFLOW, keyOf(workflow)));

function revisionsOf({ revisions }: Pick<Caches, 'revisions'>, workflow: Workflow): ControllerRevision[] {
  const ofName = revisions.byIndex(BY_WORKFLOW, keyOf(workflow));
  return ofName.filter((revision) => isRevisionOf(revision, workflow.metadata.uid));
}

function namesIn(revisions: readonly ControllerRevision[]): string[] {
  return revisions.flatMap(({ data }) => (data as RevisionCredentials | undefined)?.credentials ?? []);
}
