/**
 * The revisions of a workflow as ControllerRevisions: created when the spec changes or a draft is tested,
 * pruned when no run needs them.
 */
import { isEnabled } from '../../api/access.ts';
import { ANNOTATION, LABEL } from '../../api/group.ts';
import type { Workflow } from '../../api/kinds.ts';
import { revisionName } from '../../api/names.ts';
import { revisionOf } from '../../api/revision.ts';
import { hasPublication, publicationOf, versionMarks, type Publication } from '../../api/version.ts';
import type { WorkflowSpec } from '../../api/workflow.ts';
import { canonicalJson } from '../../kube/json.ts';
import type { RouteSpec } from '../../api/route.ts';
import { asChild } from '../../kube/apply.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import type { Manifest } from '../../kube/writes.ts';
import { controllerRevisions, type ControllerRevision, type KubeObject } from '../../kube/resource.ts';
import { dropRevisions } from '../../runs/revisions.ts';
import { hasUnfinishedRuns } from '../../runs/read.ts';
import type { OperatorContext } from '../shared/context.ts';
import { isPolicyRefusal } from '../shared/errors.ts';
import { BY_WORKFLOW, inNamespaceOf } from '../shared/caches.ts';
import {
  isOfDraft,
  isRevisionOf,
  revisionsInUse,
  wasActivated,
  type NamedRevision,
} from '../shared/revisions.ts';

/** The annotations that say what is known of a revision of a workflow, beside its content. */
const NOTES = [
  ANNOTATION.published,
  ANNOTATION.publishedBy,
  ANNOTATION.publishedMessage,
  ANNOTATION.earlierMessage,
  ANNOTATION.spec,
  ANNOTATION.activated,
];

/** The number of revisions that are kept in addition to those in use. */
const KEPT = 10;
/** The same for revisions whose publication is known. */
const KEPT_PUBLISHED = 50;
/** The same for revisions of drafts. */
const KEPT_OF_DRAFTS = 5;
/** The same while the run store has unfinished runs of the workflow. */
const KEPT_WHILE_BUSY = 20;

/**
 * The revision of the spec. Equal specs have revisions of the same name, whatever the order of their members.
 */
export function namedRevision(workflow: Workflow): NamedRevision {
  const revision = revisionOf(workflow.spec);
  return { name: revisionName(workflow.metadata.name, canonicalJson(revision)), revision };
}

/**
 * Creates the ControllerRevision if it does not exist, marks that of an active workflow as activated, and
 * notes who published it. Its content never changes: its name is a hash of it. If another object has the name
 * and cannot be deleted, returns what to do. `given`: the spec without the defaults of the project.
 */
export async function ensureRevision(
  { client, caches, clock }: Pick<OperatorContext, 'client' | 'caches' | 'clock'>,
  workflow: Workflow,
  named: NamedRevision,
  given: WorkflowSpec,
): Promise<string | undefined> {
  const { namespace = '', uid } = workflow.metadata;
  const existing = await caches.revisions.getFresh(namespace, named.name);
  const publication = publicationOf(workflow.metadata);
  const manifest = (noted: Pick<Noted, 'publication' | 'before'>): Manifest<ControllerRevision> =>
    controllerRevision(workflow, named, { given, now: clock.date(), ...noted });
  const own = existing && isRevisionOf(existing, uid) ? existing : undefined;
  const revision = own ?? (await createRevision({ client }, manifest({ publication }), uid));
  if (typeof revision === 'string') return revision;
  const isNewPublication =
    publication !== undefined &&
    (!hasPublication(revision.metadata, publication) || hasLater({ caches }, workflow, revision));
  if (!isNewPublication && (wasActivated(revision) || !isEnabled(workflow.spec))) {
    if (revision !== own) caches.revisions.noteWrite(revision);
    return undefined;
  }
  const before = revision.metadata.annotations;
  const notes = manifest({ before, ...(isNewPublication && { publication }) });
  caches.revisions.noteWrite(await noteOn({ client }, revision, notes));
  return undefined;
}

/**
 * Creates the revision. If the workflow has one of that name already, returns that. If another object has the
 * name and cannot be deleted, returns what to do. The name is asked for after a refusal alone: it follows
 * from the content, so that hardly ever an object has it that is not in the cache.
 */
async function createRevision(
  { client }: Pick<OperatorContext, 'client'>,
  manifest: Manifest<ControllerRevision>,
  workflowUid: string | undefined,
): Promise<ControllerRevision | string> {
  // The API server takes another text for another content, and refuses what would change it.
  const create = () => client.create(controllerRevisions, manifest, { canonical: true });
  try {
    return await create();
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
  const { name, namespace = '' } = manifest.metadata;
  const there = await client.find(controllerRevisions, { name, namespace });
  if (there && isRevisionOf(there, workflowUid)) return there;
  const obstacle = there && (await clearName({ client }, there));
  return obstacle ?? create();
}

/** Writes what the manifest notes on the revision; its content stays. */
async function noteOn(
  { client }: Pick<OperatorContext, 'client'>,
  { metadata: { name, namespace = '', uid } }: ControllerRevision,
  { metadata: { labels, annotations }, revision }: Manifest<ControllerRevision>,
): Promise<ControllerRevision> {
  const notes = Object.fromEntries(NOTES.map((note) => [note, annotations?.[note] ?? null]));
  const patch = { metadata: { uid, labels, annotations: notes }, revision };
  return client.patch(controllerRevisions, { name, namespace }, patch, { type: 'merge' });
}

/**
 * Whether another version followed this one. Then it is published again, also where by the same user and with
 * the same message as before. Noting that makes it the latest: one with a number that the workflow has not
 * reached does not count.
 */
function hasLater(
  { caches }: Pick<OperatorContext, 'caches'>,
  workflow: Workflow,
  { revision }: ControllerRevision,
): boolean {
  const { generation = 1 } = workflow.metadata;
  return ownRevisions({ caches }, workflow).some(
    (other) => other.revision > revision && other.revision <= generation && !isOfDraft(other),
  );
}

/**
 * Creates the ControllerRevision of a draft unless the workflow has the same revision already. It is never
 * marked as activated. If another object has the name and cannot be deleted, returns what to do.
 */
export async function ensureDraftRevision(
  { client, caches, clock }: Pick<OperatorContext, 'client' | 'caches' | 'clock'>,
  workflow: Workflow,
  named: NamedRevision,
): Promise<string | undefined> {
  const { namespace = '', uid } = workflow.metadata;
  const existing = caches.revisions.get(namespace, named.name);
  if (existing && isRevisionOf(existing, uid)) return undefined;
  const revision = await createRevision({ client }, draftRevision(workflow, named, clock.date()), uid);
  if (typeof revision === 'string') return revision;
  caches.revisions.noteWrite(revision);
  return undefined;
}

type Noted = {
  /** The spec without the defaults of the project. */
  given: WorkflowSpec;
  /** A new publication. Undefined: the annotations about publications in `before` stay. */
  publication?: Publication | undefined;
  /** The annotations that the revision has. */
  before?: Record<string, string> | undefined;
  now: Date;
};

/**
 * The ControllerRevision of the workflow as a version. It is marked as activated if the workflow is active
 * now, or was so with this revision before.
 */
export function controllerRevision(
  workflow: Workflow,
  named: NamedRevision,
  { given, publication, before, now }: Noted,
): Manifest<ControllerRevision> {
  const activated =
    before?.[ANNOTATION.activated] ?? (isEnabled(workflow.spec) ? now.toISOString() : undefined);
  return markedRevision(workflow, named, {
    ...versionMarks({ publication, spec: given, before, now }),
    ...(activated !== undefined && { [ANNOTATION.activated]: activated }),
  });
}

/** The ControllerRevision of a draft of the workflow, whether that is active or not. */
export function draftRevision(
  workflow: Workflow,
  named: NamedRevision,
  now: Date,
): Manifest<ControllerRevision> {
  return markedRevision(workflow, named, { [ANNOTATION.draft]: now.toISOString() });
}

function markedRevision(
  workflow: Workflow,
  { name, revision }: NamedRevision,
  annotations: Record<string, string>,
): Manifest<ControllerRevision> {
  const labels = { [LABEL.workflow]: workflow.metadata.name };
  const { generation = 1 } = workflow.metadata;
  return asChild(workflow, { metadata: { name, labels, annotations }, revision: generation, data: revision });
}

/**
 * Deletes an object with the revision's name that the workflow does not own. If a finalizer or the admission
 * policy prevents the deletion, returns what to do.
 */
async function clearName(
  { client }: Pick<OperatorContext, 'client'>,
  there: ControllerRevision,
): Promise<string | undefined> {
  const { name, namespace = '', uid } = there.metadata;
  const ref = { name, namespace };
  try {
    await client.delete(controllerRevisions, ref, { preconditions: { ...(uid !== undefined && { uid }) } });
  } catch (error) {
    if (!isPolicyRefusal(error)) throw error;
    return obstacleOf(there);
  }
  const left = await client.find(controllerRevisions, ref);
  return left && obstacleOf(left);
}

/** The object that has the name, and how to delete it. Pure. */
export function obstacleOf({ metadata }: Pick<KubeObject, 'metadata'>): string {
  const { name, namespace = '', finalizers = [] } = metadata;
  const kubectl = (verb: string) => `kubectl -n ${namespace} ${verb} controllerrevisions.apps ${name}`;
  const remedy =
    finalizers.length === 0
      ? `Delete it: ${kubectl('delete')}`
      : `It has finalizers (${finalizers.join(', ')}). Remove them, then delete it: ${kubectl('patch')} --type merge -p '{"metadata":{"finalizers":null}}'; ${kubectl('delete')} --ignore-not-found`;
  return `ControllerRevision ${name} has the name of the revision of this spec and was not made by the operator for this workflow, so the spec is not in effect. ${remedy}`;
}

/**
 * Deletes old revisions that neither the route nor an unfinished run needs. While the run store has
 * unfinished runs, none is deleted: not all of them are recorded.
 */
export async function pruneRevisions(
  { client, caches, conn }: Pick<OperatorContext, 'client' | 'caches' | 'conn'>,
  workflow: Workflow,
  route: RouteSpec,
): Promise<void> {
  const own = ownRevisions({ caches }, workflow).filter((revision) => !isOfDraft(revision));
  if (own.length <= KEPT) return;
  const needed = neededRevisions({ caches }, workflow, route);
  const isPublished = ({ metadata }: KubeObject) =>
    metadata.annotations?.[ANNOTATION.publishedBy] !== undefined;
  const unneeded = [
    ...prunable(
      own.filter((revision) => !isPublished(revision)),
      needed,
    ),
    ...prunable(own.filter(isPublished), needed, KEPT_PUBLISHED),
  ];
  if (unneeded.length === 0) return;
  if ((await hasUnfinishedRuns(conn, route.projectUID, route.workflowUID)) !== false) return;
  await deleteRevisions({ client, conn }, route, unneeded);
}

/**
 * Deletes old revisions of drafts, except the one named `kept`, that no unfinished run needs. While the run
 * store has unfinished runs, more of them stay: a run that resumes another one may not be recorded yet.
 */
export async function pruneDraftRevisions(
  { client, caches, conn }: Pick<OperatorContext, 'client' | 'caches' | 'conn'>,
  workflow: Workflow,
  route: RouteSpec,
  kept: string,
): Promise<void> {
  const own = ownRevisions({ caches }, workflow).filter(isOfDraft);
  if (own.length <= KEPT_OF_DRAFTS) return;
  const isIdle = (await hasUnfinishedRuns(conn, route.projectUID, route.workflowUID)) === false;
  const needed = neededRevisions({ caches }, workflow, route).add(kept);
  const unneeded = prunableDrafts(own, needed, isIdle ? KEPT_OF_DRAFTS : KEPT_WHILE_BUSY);
  await deleteRevisions({ client, conn }, route, unneeded);
}

function ownRevisions({ caches }: Pick<OperatorContext, 'caches'>, workflow: Workflow): ControllerRevision[] {
  return caches.revisions
    .byIndex(BY_WORKFLOW, inNamespaceOf(workflow, workflow.metadata.name))
    .filter((revision) => isRevisionOf(revision, workflow.metadata.uid));
}

function neededRevisions(
  { caches }: Pick<OperatorContext, 'caches'>,
  workflow: Workflow,
  route: RouteSpec,
): Set<string> {
  const runs = caches.runs.byIndex(BY_WORKFLOW, inNamespaceOf(workflow, workflow.metadata.name));
  return revisionsInUse(runs).add(route.revision);
}

async function deleteRevisions(
  { client, conn }: Pick<OperatorContext, 'client' | 'conn'>,
  route: RouteSpec,
  unneeded: readonly ControllerRevision[],
): Promise<void> {
  if (unneeded.length === 0) return;
  for (const { metadata } of unneeded) {
    const { name, namespace = '', uid } = metadata;
    const preconditions = { preconditions: { ...(uid !== undefined && { uid }) } };
    await client.delete(controllerRevisions, { name, namespace }, preconditions);
  }
  await dropRevisions(
    conn,
    route.projectUID,
    unneeded.map(({ metadata }) => metadata.name),
  );
}

/** The revisions beyond the newest `kept` that are not needed. */
export function prunable<T extends KubeObject & { revision: number }>(
  revisions: readonly T[],
  needed: ReadonlySet<string>,
  kept = KEPT,
): T[] {
  return revisions
    .toSorted((a, b) => b.revision - a.revision)
    .slice(kept)
    .filter(({ metadata }) => !needed.has(metadata.name));
}

/** The revisions of drafts beyond the newest `kept` that are not needed. */
export function prunableDrafts<T extends KubeObject>(
  revisions: readonly T[],
  needed: ReadonlySet<string>,
  kept: number,
): T[] {
  const madeAt = ({ metadata }: T) => metadata.annotations?.[ANNOTATION.draft] ?? '';
  return revisions
    .toSorted((a, b) => madeAt(b).localeCompare(madeAt(a)))
    .slice(kept)
    .filter(({ metadata }) => !needed.has(metadata.name));
}
