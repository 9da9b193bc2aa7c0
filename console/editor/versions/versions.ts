/** The versions of a workflow, by its revisions. Pure. */
import { ANNOTATION } from '../../../api/group.ts';
import { isMarkedAsDraft, specOfVersion, type VersionSpec } from '../../../api/version.ts';
import { FIELD_MANAGER } from '../../kube/objects.ts';
import { isEqual } from '../../kube/patch.ts';
import type { RevisionObject, WorkflowObject } from '../../kube/resources.ts';
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
  isCurrent: boolean;
  /** Undefined: the revision does not hold it. */
  spec: VersionSpec | undefined;
  /** What runs execute. */
  data: unknown;
};

/** The versions, the newest first. Drafts that were only tested are none. */
export function versionsOf(workflow: WorkflowObject, revisions: readonly RevisionObject[]): Version[] {
  return revisions
    .filter((revision) => isVersionOf(workflow, revision))
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
        program: by === undefined && isCurrent ? lastProgram(workflow.metadata) : undefined,
        message: annotations[ANNOTATION.publishedMessage],
        isCurrent,
        spec: specOfVersion(metadata),
        data,
      };
    });
}

/** Changes of these alone are no new version: of a workflow that is activated, suspended or renamed. */
const UNVERSIONED = new Set(['f:active', 'f:suspend', 'f:displayName']);

/** The program outside the console that changed last what a version consists of. */
function lastProgram({ managedFields = [] }: WorkflowObject['metadata']): string | undefined {
  return managedFields
    .filter(
      ({ manager, subresource, fieldsV1 = {} }) =>
        manager !== FIELD_MANAGER &&
        subresource === undefined &&
        Object.keys(fieldsV1['f:spec'] ?? {}).some((field) => !UNVERSIONED.has(field)),
    )
    .toSorted((one, other) => (one.time ?? '').localeCompare(other.time ?? ''))
    .at(-1)?.manager;
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
