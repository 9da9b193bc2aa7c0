/**
 * Versions of a workflow: its revisions, with who published each, and the spec to restore. Whoever publishes
 * writes annotations of the workflow, and the operator copies them to the revision. Pure.
 */
import { ANNOTATION } from './group.ts';
import { isRecord } from './record.ts';
import type { WorkflowSpec } from './workflow.ts';

/** The longest message, in characters. */
export const MAX_MESSAGE = 500;

/** Annotations have 256 KiB together. A longer spec is not kept, so that its version cannot be restored. */
const MOST_OF_SPEC = 196_608;

type Annotated = { annotations?: Record<string, string>; generation?: number };

/** Who published, and why. */
export type Publication = { by: string; message?: string };

/** The spec of a version, as people wrote it. */
export type VersionSpec = Omit<WorkflowSpec, 'active' | 'suspend'>;

/**
 * The annotations of a workflow that is published as this generation. Null removes the message of an earlier
 * one.
 */
export function publicationMarks(
  { by, message }: Publication,
  generation: number,
): Record<string, string | null> {
  return {
    [ANNOTATION.publishedBy]: by,
    [ANNOTATION.publishedMessage]: message ?? null,
    [ANNOTATION.publishedGeneration]: String(generation),
  };
}

/**
 * Who published the spec that the workflow has; undefined if somebody changed it in another way since. A
 * message that is longer than the longest one is cut, and an empty one is none.
 */
export function publicationOf({ annotations = {}, generation }: Annotated): Publication | undefined {
  const { [ANNOTATION.publishedBy]: by, [ANNOTATION.publishedMessage]: written = '' } = annotations;
  if (by === undefined || annotations[ANNOTATION.publishedGeneration] !== String(generation))
    return undefined;
  // Half a character would be another one once it is stored.
  const message = written.slice(0, MAX_MESSAGE).toWellFormed();
  return { by, ...(message !== '' && { message }) };
}

/**
 * The annotations to write with a change that is no new version, such as of `active`: they name who published
 * this generation also for the next one. Empty if nobody is named.
 */
export function keptPublicationMarks(metadata: Annotated): Record<string, string> {
  const { generation = 0 } = metadata;
  return publicationOf(metadata) ? { [ANNOTATION.publishedGeneration]: String(generation + 1) } : {};
}

/**
 * Whether these are the annotations of a revision of a draft that was neither published in the console nor
 * active.
 */
export function isMarkedAsDraft(annotations: Record<string, string> = {}): boolean {
  const later = [ANNOTATION.activated, ANNOTATION.publishedBy];
  return (
    annotations[ANNOTATION.draft] !== undefined && later.every((name) => annotations[name] === undefined)
  );
}

type Version = {
  publication: Publication | undefined;
  spec: WorkflowSpec;
  /** The annotations that the revision has. */
  before?: Record<string, string> | undefined;
  now: Date;
};

/**
 * The annotations of the revision. Without a new publication those of `before` stay: whatever else has led to
 * the same spec again, somebody published it once.
 */
export function versionMarks({ publication, spec, before = {}, now }: Version): Record<string, string> {
  const { active: _active, suspend: _suspend, ...kept } = spec;
  const text = JSON.stringify(kept);
  const isShort = new TextEncoder().encode(text).length <= MOST_OF_SPEC;
  return {
    ...(publication ? newPublicationMarks(publication, before, now) : marksIn(before)),
    ...(isShort && { [ANNOTATION.spec]: text }),
  };
}

/**
 * Without a message in the new publication, an earlier one stays, in an annotation of its own. The others
 * name the newest publication alone, as the workflow does: `hasPublication` compares them with it.
 */
function newPublicationMarks(
  { by, message }: Publication,
  before: Record<string, string>,
  now: Date,
): Record<string, string> {
  const earlier = messageOfVersion({ annotations: before });
  return {
    [ANNOTATION.published]: now.toISOString(),
    [ANNOTATION.publishedBy]: by,
    ...(message !== undefined && { [ANNOTATION.publishedMessage]: message }),
    ...(message === undefined && earlier !== undefined && { [ANNOTATION.earlierMessage]: earlier }),
  };
}

/** The annotations about publications. */
const PUBLICATION_MARKS = [
  ANNOTATION.published,
  ANNOTATION.publishedBy,
  ANNOTATION.publishedMessage,
  ANNOTATION.earlierMessage,
];

function marksIn(before: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    PUBLICATION_MARKS.flatMap((name) => (before[name] === undefined ? [] : [[name, before[name]]])),
  );
}

/** Whether the revision names this publication already. */
export function hasPublication({ annotations = {} }: Annotated, { by, message }: Publication): boolean {
  return annotations[ANNOTATION.publishedBy] === by && annotations[ANNOTATION.publishedMessage] === message;
}

/** The newest message with which the version was published. */
export function messageOfVersion({ annotations = {} }: Annotated): string | undefined {
  return annotations[ANNOTATION.publishedMessage] ?? annotations[ANNOTATION.earlierMessage];
}

/** The spec of a version, or undefined if its revision does not hold one. */
export function specOfVersion({ annotations = {} }: Annotated): VersionSpec | undefined {
  try {
    const read: unknown = JSON.parse(annotations[ANNOTATION.spec] ?? '');
    return isRecord(read) && Array.isArray(read['nodes']) ? (read as VersionSpec) : undefined;
  } catch {
    return undefined;
  }
}
