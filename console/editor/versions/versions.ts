/** The versions of a workflow, by its revisions. Pure. */
import { ANNOTATION } from '../../../api/group.ts';
import { isMarkedAsDraft, publicationOf, specOfVersion, type VersionSpec } from '../../../api/version.ts';
import { FIELD_MANAGER } from '../../kube/objects.ts';
import { isEqual } from '../../kube/patch.ts';
import type { ManagedField, RevisionObject, WorkflowObject } from '../../kube/resources.ts';
import { conditionText } from '../../workflows/conditionText.ts';
import { displayProblemIn } from '../model/displayProblem.ts';
import type { Draft } from '../model/model.ts';
import { readBody } from '../model/storedDraft.ts';
import { inOrder } from '../model/yamlText.ts';

export type Version = {
  revision: string;
  /** When it was published; for one that another program applied, when the operator saw it first. */
  at: string;
  /** Undefined: it was not published in the console. */
  by: string | undefined;
  /** The program that applied it outside the console, such as `kubectl`; undefined: not known. */
  program: string | undefined;
  message: string | undefined;
  /** Of an earlier publication, if the last one has no message: somebody else may have written it. */
  earlierMessage?: string | undefined;
  /** Runs execute it now. */
  isCurrent: boolean;
  /** Why no run executes what is published now; undefined: it is valid, or an earlier version. */
  problem?: string;
  /** Undefined: the revision does not hold it. */
  spec: VersionSpec | undefined;
  /** What runs execute. */
  data: unknown;
};

/**
 * The versions, the newest first. Drafts that were only tested are none. What is published now and not valid
 * has no revision, and is the first one.
 */
export function versionsOf(workflow: WorkflowObject, revisions: readonly RevisionObject[]): Version[] {
  const own = revisions.filter((revision) => isVersionOf(workflow, revision));
  const current = own.find(({ metadata }) => metadata.name === workflow.status?.revision);
  const unused = unusedVersion(workflow, current && specOfVersion(current.metadata));
  return [...(unused ? [unused] : []), ...versionsIn(workflow, own, unused !== undefined)];
}

/** `isOlder`: the workflow has a later version than these. */
function versionsIn(
  workflow: WorkflowObject,
  revisions: readonly RevisionObject[],
  isOlder: boolean,
): Version[] {
  return revisions
    .toSorted((a, b) => b.revision - a.revision)
    .map(({ metadata, data }) => {
      const { annotations = {}, creationTimestamp = '' } = metadata;
      const isCurrent = metadata.name === workflow.status?.revision;
      const by = annotations[ANNOTATION.publishedBy];
      return {
        revision: metadata.name,
        at: annotations[ANNOTATION.published] ?? creationTimestamp,
        by,
        // The workflow names the programs of its last version only.
        program: by === undefined && isCurrent && !isOlder ? lastProgram(workflow.metadata) : undefined,
        message: annotations[ANNOTATION.publishedMessage],
        earlierMessage: annotations[ANNOTATION.earlierMessage],
        isCurrent,
        spec: specOfVersion(metadata),
        data,
      };
    });
}

/** What is published, if the operator found it not valid. `executed`: what runs execute in place of it. */
function unusedVersion(
  { metadata, spec, status }: WorkflowObject,
  executed: VersionSpec | undefined,
): Version | undefined {
  const { generation } = metadata;
  const valid = (status?.conditions ?? []).find(({ type }) => type === 'Valid');
  const isOfThis = (valid?.observedGeneration ?? generation) === generation;
  const { active: _active, suspend: _suspend, ...written } = spec;
  // A version that was valid may become invalid, as when something that it names is gone.
  if (valid?.status !== 'False' || !isOfThis || isEqual(executed, written)) return undefined;
  const { by, message } = publicationOf(metadata) ?? {};
  return {
    revision: `generation ${generation}`,
    at: lastChange(metadata)?.time ?? valid.lastTransitionTime,
    by,
    program: by === undefined ? lastProgram(metadata) : undefined,
    message,
    isCurrent: false,
    problem: conditionText(valid.message, spec.nodes),
    spec: written,
    data: written,
  };
}

/** Changes of these alone are no new version: of a workflow that is activated, suspended or renamed. */
const UNVERSIONED = new Set(['.', 'f:active', 'f:suspend', 'f:displayName']);

/** The program outside the console that changed last what a version consists of. */
function lastProgram(metadata: WorkflowObject['metadata']): string | undefined {
  return lastChange(metadata, ({ manager }) => manager !== FIELD_MANAGER)?.manager;
}

/** The last change, among these, of what a version consists of. */
function lastChange(
  { managedFields = [] }: WorkflowObject['metadata'],
  isAmong: (change: ManagedField) => boolean = () => true,
): ManagedField | undefined {
  return managedFields
    .filter(
      (change) =>
        isAmong(change) &&
        change.subresource === undefined &&
        Object.keys(change.fieldsV1?.['f:spec'] ?? {}).some((field) => !UNVERSIONED.has(field)),
    )
    .toSorted((one, other) => (one.time ?? '').localeCompare(other.time ?? ''))
    .at(-1);
}

function isVersionOf(workflow: WorkflowObject, { metadata }: RevisionObject): boolean {
  const { annotations, ownerReferences = [] } = metadata;
  const isOwn = ownerReferences.some(({ uid }) => uid !== undefined && uid === workflow.metadata.uid);
  return isOwn && (!isMarkedAsDraft(annotations) || metadata.name === workflow.status?.revision);
}

/** The draft that restores the version; undefined if the canvas cannot show it, or the draft is like it. */
export function restored(version: Pick<Version, 'spec'>, draft: Draft): Draft | undefined {
  if (version.spec === undefined) return undefined;
  const { positions, notes, pins } = draft;
  const next = readBody(JSON.stringify({ spec: version.spec, positions, notes, pins }), draft.spec);
  return next && isEqual(next.spec, draft.spec) ? undefined : next;
}

/** What two versions are compared by: what people wrote, or where one lacks that, what runs execute. */
export function comparable(one: Version, other: Version): [unknown, unknown] {
  if (one.spec !== undefined && other.spec !== undefined) return [shown(one.spec), shown(other.spec)];
  return [one.data, other.data];
}

/** In the order of manifests, as *Publish* shows it; a spec of another form as it is. */
function shown(spec: VersionSpec): unknown {
  return Array.isArray(spec.nodes) && displayProblemIn(spec) === undefined ? inOrder(spec) : spec;
}
