/**
 * The poller of file triggers. A look first hands on the changes that wait, then asks the store for more. Changes are kept before
 * the first of them is handed on, and from then on only the cursor moves: however many they are, what is known of files is kept once for
 * all of them.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { FileStorageTrigger } from '../../../api/trigger.ts';
import type { NodeOutput } from '../../../api/value.ts';
import { createPoller, PollError, type PollContext, type Polled } from '../../poller.ts';
import { collect } from '../../collect.ts';
import { findProvider, titlesFor } from '../../providers/register.ts';
import { Known } from '../../files/known.ts';
import { decodeMemory, encodeMemory, isMuch, type Memory } from './state.ts';
import type { Change, SeenFile, Source } from '../../files/source.ts';

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
  const look = { source: await openSource(trigger, context), trigger, context };
  return cursor === undefined ? begin(look, since) : goOn(look, cursor);
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

type Look = { source: Source; trigger: FileStorageTrigger; context: PollContext };

async function begin({ source, context }: Look, since?: Date): Promise<Polled> {
  const known = new Known();
  const seen = await source.look(source.first(since), { known, context, isMuch });
  if (!seen) throw new PollError('InvalidAnswer', 'the store does not know where it has just begun');
  const { changes: waiting, position, more } = seen;
  await context.memory.keep(encodeMemory({ known: seen.known ?? known, waiting }));
  const cursor: Cursor = { place: source.place, position, taken: 0, more };
  return { events: [], cursor, more: more || waiting.length > 0 };
}

async function goOn(look: Look, given: unknown): Promise<Polled> {
  const { source, context } = look;
  const parsed = cursorSchema.safeParse(given);
  if (!parsed.success) return beginAnew(look, 'the place up to which files were seen cannot be read');
  if (parsed.data.place !== source.place)
    return beginAnew(look, 'the credential leads to another account or bucket than before');
  const memory = decodeMemory(await context.memory.read());
  if (!memory) return beginAnew(look, 'what was known of the files is lost');
  if (parsed.data.taken < memory.waiting.length) return handOn(look, memory, parsed.data);
  const { known } = memory;
  const seen = await source.look(parsed.data.position, { known, context, isMuch });
  if (!seen) return beginAnew(look, source.lost);
  const { position, more, changes: waiting } = seen;
  const cursor = { ...parsed.data, position, more };
  // With nothing new what is kept stays as it is.
  if (!seen.known && waiting.length === 0) return { events: [], cursor, more };
  const next = { known: seen.known ?? known, waiting };
  await context.memory.keep(encodeMemory(next));
  return handOn(look, next, { ...cursor, taken: 0 });
}

async function beginAnew(look: Look, baselineLost: string): Promise<Polled> {
  return { ...(await begin(look)), baselineLost };
}

/** The next of the changes that wait, up to as many as are wanted. */
async function handOn({ source, trigger, context }: Look, memory: Memory, cursor: Cursor): Promise<Polled> {
  const found = collect(context);
  const { waiting } = memory;
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
      // What was looked at before counts, so that a file that cannot be read holds up none that came before it.
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
