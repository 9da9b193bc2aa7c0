/**
 * Stores the draft, and merges drafts that others store. Writes are sent one after another, and no write
 * overwrites a version that this page has not read. No exported function throws.
 */
import { ANNOTATION } from '../../../api/group.ts';
import { isPassing } from '../../http/call.ts';
import { failureFrom } from '../../http/failure.ts';
import { createObject, deleteObject, getObject, patchObject } from '../../kube/objects.ts';
import { isEqual } from '../../kube/patch.ts';
import { DRAFTS, type DraftObject } from '../../kube/resources.ts';
import { notifyFailure, notifyNotice } from '../../ui/notify.tsx';
import { sessionOfDraft, readTheirDraft, receiveDraft } from '../model/draftSession.ts';
import { rebaseHistory } from '../model/history.ts';
import { hasSecret, placeOfSecret } from '../model/secrets.ts';
import { keptPins } from '../model/pins.ts';
import { isDirty, isOlder, type Session } from '../model/session.ts';
import { contentOf, isPinsOnly, readStored, type StoredDraft } from '../model/storedDraft.ts';
import type { Core } from './core.ts';
import type { DraftResult, DraftState, Unanswered } from './draftState.ts';
import { firstMistakeIn } from './yamlMistake.ts';

/** How often a write is sent, because others may store a version meanwhile. */
const MAX_TRIES = 3;

/** Starts the session with the stored draft, if there is one and it can be displayed. */
export function beginWith(core: Core, object: DraftObject | undefined): void {
  if (object === undefined) return;
  const read = readStored(object, core.session().workflow);
  if (read === undefined) return core.set(core.session(), { draftState: { kind: 'foreign', object } });
  const session = sessionOfDraft(core.session().workflow, read);
  const { text } = read;
  core.stored = { object, draft: session.history.present, ...(text !== undefined && { text }) };
  core.set(session, textOf(core, text));
}

/** Whether the draft has changes that are not stored. */
export function isUnstored(core: Core): boolean {
  return !isEqual(contentToStore(core), core.stored?.object.spec);
}

/** Stores the draft, or removes the stored one if the draft has no unpublished changes. */
export function saveDraft(core: Core): Promise<DraftResult> {
  core.writing = core.writing.then(() => write(core, MAX_TRIES));
  return core.writing;
}

const ENDED: ReadonlySet<DraftState['kind']> = new Set(['saving', 'failed', 'withheld']);

async function write(core: Core, tries: number): Promise<DraftResult> {
  const { mayDraft, isDeleted, draftState } = core.view();
  if (!mayDraft || isDeleted || !isUnstored(core)) {
    // What could not be stored was undone, or published.
    if (ENDED.has(draftState.kind)) core.set(core.session(), { draftState: { kind: 'idle' } });
    return 'unchanged';
  }
  // Before a key: nothing of the draft can be stored until the user decides.
  if (draftState.kind === 'conflict' || draftState.kind === 'foreign') return 'failed';
  const withheld = withheldState(core);
  if (withheld !== undefined) return settled(core, withheld, 'failed');
  core.isWriting = true;
  const sent = pendingWrite(core);
  core.set(core.session(), { draftState: { kind: 'saving' } });
  try {
    await send(core);
    return settled(core, { kind: 'idle' }, 'written');
  } catch (error) {
    const { status } = failureFrom(error);
    if (isPassing(error)) core.unanswered.push(...sent);
    const isOutdated = status === 409 || status === 404;
    if (!isOutdated || tries === 1) return settled(core, failed(error), 'failed');
  }
  try {
    await readAgain(core);
  } catch (error) {
    return settled(core, failed(error), 'failed');
  }
  return write(core, tries - 1);
}

function failed(error: unknown): DraftState {
  const { title, detail } = failureFrom(error);
  return { kind: 'failed', why: `${title}. ${detail}`, isPassing: isPassing(error) };
}

/** The write that is about to be sent, in case no answer says whether it was stored. */
function pendingWrite(core: Core): Unanswered[] {
  const content = contentToStore(core);
  const { text } = core.view();
  const draft = core.session().history.present;
  return content === undefined ? [] : [{ content, draft, ...(text !== undefined && { text }) }];
}

/** Ends a write, and handles the version that was read meanwhile. */
function settled(core: Core, draftState: DraftState, result: DraftResult): DraftResult {
  core.isWriting = false;
  core.set(core.session(), { draftState });
  const waiting = core.deferredDraft;
  delete core.deferredDraft;
  if (waiting !== undefined) receiveStored(core, waiting);
  return result;
}

async function send(core: Core): Promise<void> {
  const { workflow, history } = core.session();
  const at = { namespace: workflow.metadata.namespace ?? '', name: workflow.metadata.name };
  const wanted = contentToStore(core);
  const { stored } = core;
  if (wanted === undefined) {
    if (stored) {
      await deleteObject(DRAFTS, at.namespace, at.name, preconditions(stored.object));
      noteRemoved(core, stored.object);
    }
    delete core.stored;
    return;
  }
  const marks: Record<string, string> = isPinsOnly(toStore(core)) ? { [ANNOTATION.pinsOnly]: 'true' } : {};
  const object = await (stored
    ? patchObject(DRAFTS, at, {
        metadata: {
          resourceVersion: stored.object.metadata.resourceVersion,
          annotations: { [ANNOTATION.pinsOnly]: null, ...marks },
        },
        spec: { ...wanted, text: wanted.text ?? null },
      })
    : createObject(DRAFTS, at.namespace, { metadata: { name: at.name, annotations: marks }, spec: wanted }));
  core.stored = { object, draft: history.present, ...(wanted.text !== undefined && { text: wanted.text }) };
  core.unanswered = [];
}

function preconditions({ metadata: { uid, resourceVersion } }: DraftObject) {
  return { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) };
}

/** Reads the draft that somebody else stored or removed. Throws an ApiFailure if that fails. */
async function readAgain(core: Core): Promise<void> {
  const { namespace = '', name } = core.session().workflow.metadata;
  try {
    const object = await getObject(DRAFTS, namespace, name);
    core.isWriting = false;
    delete core.deferredDraft;
    receiveStored(core, object);
  } catch (error) {
    if (failureFrom(error).status !== 404) throw error;
    core.isWriting = false;
    delete core.deferredDraft;
    // This page may have removed it itself, with a write whose answer was lost.
    if (core.stored) noteRemoved(core, core.stored.object);
    delete core.stored;
  }
}

/** Handles the draft that the API server has; null: it may have been removed. */
export function receiveStored(core: Core, object: DraftObject | null): void {
  if (core.isWriting) {
    core.deferredDraft = object;
    return;
  }
  if (object === null) {
    // The event may be about an earlier draft, which this page removed itself.
    core.writing = core.writing.then((result) => checkRemoval(core, result));
    return;
  }
  if (isKnown(core, object)) return;
  const session = core.session();
  const own = core.unanswered.find(({ content }) => isEqual(content, object.spec));
  if (own !== undefined) return confirmUnanswered(core, object, own);
  const read = readTheirDraft(session, object);
  if (read === undefined) return core.set(session, { draftState: { kind: 'foreign', object } });
  const { theirs, text } = read;
  const next = receiveDraft(read.session, core.stored?.draft ?? session.saved, theirs);
  if (next === undefined) return core.set(session, { draftState: { kind: 'conflict', theirs: object } });
  const hadText = core.stored?.text;
  core.stored = { object, draft: theirs, ...(text !== undefined && { text }) };
  core.set(next, {
    draftState: stateAfterRead(core),
    ...(core.view().text === hadText && textOf(core, text)),
  });
}

/** Whether this page has read this version or a later one, or has removed the draft. */
function isKnown({ removedDrafts, stored }: Core, object: DraftObject): boolean {
  // Otherwise changes that were undone or published would return as changes of somebody else.
  if (removedDrafts.has(object.metadata.uid ?? '')) return true;
  return stored !== undefined && (isSame(object, stored.object) || isOlder(object, stored.object));
}

/** This page stored it itself: it is not merged into later changes of this page. */
function confirmUnanswered(core: Core, object: DraftObject, { content: _content, ...own }: Unanswered): void {
  core.stored = { object, ...own };
  core.unanswered = [];
  core.set(core.session(), { draftState: stateAfterRead(core) });
}

/** A failed write stays visible until the draft is stored. */
function stateAfterRead(core: Core): DraftState {
  const { draftState } = core.view();
  return draftState.kind === 'failed' && isUnstored(core) ? draftState : { kind: 'idle' };
}

/**
 * Handles a foreign draft again after the workflow changed: the page may have read the draft of a recreated
 * workflow before the workflow.
 */
export function readForeignAgain(core: Core): void {
  const { draftState } = core.view();
  if (draftState.kind !== 'foreign') return;
  if (draftState.object.spec.base.uid === core.session().workflow.metadata.uid)
    receiveStored(core, draftState.object);
}

async function checkRemoval(core: Core, result: DraftResult): Promise<DraftResult> {
  const { namespace = '', name } = core.session().workflow.metadata;
  if (core.stored === undefined && core.view().draftState.kind !== 'foreign') return result;
  try {
    receiveStored(core, await getObject(DRAFTS, namespace, name));
  } catch (error) {
    if (failureFrom(error).status === 404) receiveRemoval(core);
  }
  return result;
}

/**
 * Somebody published or discarded the draft. Shows the published version, unless this page has later
 * changes.
 */
function receiveRemoval(core: Core): void {
  const { stored } = core;
  const session = core.session();
  delete core.stored;
  if (core.view().draftState.kind === 'foreign') core.set(session, { draftState: { kind: 'idle' } });
  if (stored === undefined || !isEqual(stored.draft, session.history.present)) return;
  const { saved } = session;
  if (isDirty(session))
    notifyNotice(
      'The draft is gone',
      'Somebody else published or discarded it. The page shows the published version.',
    );
  core.set(
    { ...session, history: rebaseHistory(session.history, saved, () => undefined) },
    {
      ...(isDirty(session) && { shapes: [] }),
      ...(core.view().text === stored.text && { unreadable: undefined, text: undefined }),
    },
  );
}

/**
 * Resolves a conflict of drafts: theirs replaces mine at once, or the next write replaces theirs with mine.
 */
export function resolveDraft(core: Core, choice: 'mine' | 'theirs'): void {
  const { draftState } = core.view();
  if (draftState.kind !== 'conflict') return;
  const { theirs: object } = draftState;
  const session = core.session();
  const read = readTheirDraft(session, object);
  if (read === undefined) return core.set(session, { draftState: { kind: 'foreign', object } });
  const { theirs } = read;
  core.stored = { object, draft: theirs, ...(read.text !== undefined && { text: read.text }) };
  const history = rebaseHistory(session.history, theirs, () => undefined);
  const next: Session = choice === 'mine' ? session : { ...read.session, history };
  core.set(next, {
    draftState: { kind: 'idle' },
    ...(choice === 'theirs' && { ...textOf(core, read.text), shapes: [] }),
  });
}

/** Removes a foreign draft, and stores the draft of this workflow. */
export async function removeForeign(core: Core): Promise<void> {
  const { draftState } = core.view();
  if (draftState.kind !== 'foreign') return;
  const { namespace = '', name } = core.session().workflow.metadata;
  try {
    await deleteObject(DRAFTS, namespace, name, preconditions(draftState.object));
  } catch (error) {
    if (failureFrom(error).status !== 404) {
      notifyFailure('Could not remove the draft', error);
      return;
    }
  }
  noteRemoved(core, draftState.object);
  core.set(core.session(), { draftState: { kind: 'idle' } });
  await saveDraft(core);
}

function noteRemoved(core: Core, { metadata: { uid } }: DraftObject): void {
  if (uid !== undefined) core.removedDrafts.add(uid);
}

/** The content to store; undefined if the draft has no unpublished changes. */
function contentToStore(core: Core): DraftObject['spec'] | undefined {
  const content = toStore(core);
  if (isPinsOnly(content) && keptPins(content.draft) === undefined) return undefined;
  return contentOf(core.session().workflow, content);
}

function toStore(core: Core): StoredDraft {
  const { saved, history } = core.session();
  const { text } = core.view();
  return { base: saved, draft: history.present, ...(text !== undefined && { text }) };
}

function withheldState(core: Core): DraftState | undefined {
  const { saved, history } = core.session();
  const { text } = core.view();
  const place = text !== undefined && hasSecret(text) ? 'the YAML' : placeOfSecret(history.present, saved);
  return place === undefined ? undefined : { kind: 'withheld', place };
}

function textOf(core: Core, text: string | undefined) {
  const why = text === undefined ? undefined : firstMistakeIn(text, core.session().workflow.metadata.name);
  return { unreadable: why, text: why === undefined ? undefined : text };
}

function isSame(one: DraftObject, other: DraftObject): boolean {
  return (
    one.metadata.uid === other.metadata.uid && one.metadata.resourceVersion === other.metadata.resourceVersion
  );
}
