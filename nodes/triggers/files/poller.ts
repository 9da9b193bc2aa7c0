/**
 * The poller of file triggers. A poll first submits the pending changes, then asks the store for more.
 * Pending changes are stored before the first of them is submitted; from then on only the cursor moves, so
 * that the known items are stored once for all of them.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { FileStorageTrigger } from '../../../api/trigger.ts';
import type { NodeOutput } from '../../../api/value.ts';
import { createPoller, PollError, type PollContext, type Polled } from '../../contract/poller.ts';
import { collect } from '../../contract/collect.ts';
import { findProvider, titlesFor } from '../../providers/register.ts';
import { Known } from '../../contract/known.ts';
import { decodeState, encodeState, isMuch, type State } from './state.ts';
import type { Change, SeenFile, Source } from '../../contract/source.ts';

const cursorSchema = z.object({
  place: z.string(),
  position: z.unknown(),
  /** How many of the changes that wait were handed on. */
  taken: z.int().min(0),
  /** Whether the store has more than those that wait. */
  more: z.boolean(),
});
type Cursor = z.infer<typeof cursorSchema>;

/** Files that are asked about at the same time. */
const AT_ONCE = 8;
const LONGEST_NAME = 65_536;

export const filePoller = createPoller<FileStorageTrigger>(async (trigger, cursor, context, since) => {
  const poll = { source: await openSource(trigger, context), trigger, context };
  return cursor === undefined ? begin(poll, since) : goOn(poll, cursor);
});

/** @throws PollError `InvalidTrigger` for a credential that leads to no files */
async function openSource(trigger: FileStorageTrigger, context: PollContext): Promise<Source> {
  const credential = await context.credential(trigger.credential);
  const provider = findProvider(credential.spec, 'files');
  if (provider) return (await provider.files())(credential, trigger, context);
  throw new PollError(
    'InvalidTrigger',
    `the credential ${credential.name} cannot list files: use one of ${titlesFor('files')}`,
  );
}

type Poll = { source: Source; trigger: FileStorageTrigger; context: PollContext };

async function begin({ source, context }: Poll, since?: Date): Promise<Polled> {
  const known = new Known();
  const seen = await source.poll(source.first(since), { known, context, isMuch });
  if (!seen) throw new PollError('InvalidAnswer', 'the store rejected its own position');
  const { changes: waiting, position, more } = seen;
  await context.knownItems.store(encodeState({ known: seen.known ?? known, waiting }));
  const cursor: Cursor = { place: source.place, position, taken: 0, more };
  return { events: [], cursor, more: more || waiting.length > 0 };
}

async function goOn(poll: Poll, given: unknown): Promise<Polled> {
  const { source, context } = poll;
  const parsed = cursorSchema.safeParse(given);
  if (!parsed.success) return startOver(poll, 'the stored cursor is invalid');
  if (parsed.data.place !== source.place)
    return startOver(poll, 'the credential leads to another account or bucket than before');
  const state = decodeState(await context.knownItems.read());
  if (!state) return startOver(poll, 'the known items are lost');
  if (parsed.data.taken < state.waiting.length) return handOn(poll, state, parsed.data);
  const { known } = state;
  const seen = await source.poll(parsed.data.position, { known, context, isMuch });
  if (!seen) return startOver(poll, source.lost);
  const { position, more, changes: waiting } = seen;
  const cursor = { ...parsed.data, position, more };
  // With nothing new what is kept stays as it is.
  if (!seen.known && waiting.length === 0) return { events: [], cursor, more };
  const next = { known: seen.known ?? known, waiting };
  await context.knownItems.store(encodeState(next));
  return handOn(poll, next, { ...cursor, taken: 0 });
}

async function startOver(poll: Poll, baselineLost: string): Promise<Polled> {
  return { ...(await begin(poll)), baselineLost };
}

/** The next of the changes that wait, up to as many as are wanted. */
async function handOn({ source, trigger, context }: Poll, state: State, cursor: Cursor): Promise<Polled> {
  const found = collect(context);
  const { waiting } = state;
  let { taken } = cursor;
  const polled = (): Polled => ({
    events: found.events,
    cursor: { ...cursor, taken },
    more: taken < waiting.length || cursor.more,
  });
  while (taken < waiting.length) {
    if (context.enough.aborted && taken > cursor.taken) return polled();
    const batch = waiting.slice(taken, taken + AT_ONCE);
    const files = await Promise.allSettled(batch.map(({ file }) => completed(source, file, context)));
    for (const [index, each] of batch.entries()) {
      const file = files[index];
      // What was checked before counts, so that a file that cannot be read holds up none that came before it.
      if (file?.status === 'rejected') {
        if (taken > cursor.taken) return polled();
        throw file.reason;
      }
      if (file?.value && isWanted(file.value, each, trigger)) {
        if (found.isFull()) return polled();
        const event = eventOf({ ...each, file: file.value }, cursor.place);
        if (!found.add(event)) return polled();
      }
      taken += 1;
    }
  }
  return polled();
}

function completed(source: Source, file: SeenFile, context: PollContext): Promise<SeenFile | undefined> {
  return source.complete?.(file, context) ?? Promise.resolve(file);
}

/** The same for every kind of store, so it is decided here. */
function isWanted(file: SeenFile, { event }: Change, { events, mimeTypes }: FileStorageTrigger): boolean {
  if (events && events.length > 0 && !events.includes(event)) return false;
  if (!mimeTypes || mimeTypes.length === 0) return true;
  const type = bareType(file.mimeType ?? '');
  return mimeTypes.some((wanted) => admits(bareType(wanted), type));
}

/** Without the charset and the like. */
function bareType(text: string): string {
  return (text.split(';', 1)[0] ?? '').trim().toLowerCase();
}

// `image/*` admits all images, and a star alone everything.
function admits(wanted: string, type: string): boolean {
  if (wanted === '*' || wanted === '*/*') return true;
  return wanted.endsWith('/*') ? type.startsWith(wanted.slice(0, -1)) : wanted === type;
}

function eventOf({ event, file }: Change, place: string): { key: string; output: NodeOutput } {
  const { id, version, mimeType, size, modified, folder, url } = file;
  const name = file.name.slice(0, LONGEST_NAME).toWellFormed();
  const named = createHash('sha256')
    .update(JSON.stringify([id, version]))
    .digest('hex')
    .slice(0, 40);
  const shown = {
    id,
    name,
    mime_type: mimeType,
    size,
    modified_time: modified,
    folder_id: folder,
    url,
  };
  return {
    key: `${place}/${named}`,
    output: { text_content: name, data_content: { event, file: shown } },
  };
}
