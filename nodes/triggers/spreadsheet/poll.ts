/**
 * Polls a spreadsheet. Guarantees that each change of a row starts one run, whenever a poll is interrupted: a
 * poll that finds changes stores them and returns none; the next polls return the stored changes without a
 * request. A sheet that takes longer than one poll is read by several, each of which continues where the
 * previous one ended. Without changes a poll costs one small request.
 */
import * as z from 'zod';
import type { SpreadsheetTrigger } from '../../../api/trigger.ts';
import { collect } from '../../contract/collect.ts';
import { PollError, type PollContext, type Polled } from '../../contract/poller.ts';
import type { Book, Sheet, Area, SheetName } from '../../contract/book.ts';
import { take } from './changes.ts';
import { diff, type RowEvent } from './diff.ts';
import { decodeState, encodeState, type State, type StoredState } from './state.ts';
import { outputOf } from './output.ts';
import { partsOf, readRows, type Before, type Reading, type Watched } from './read.ts';
import { rangeOf } from '../../spreadsheet/reference.ts';
import { digestOf } from './rows.ts';
import { createMutex } from './mutex.ts';

const cursorSchema = z.object({
  /** Of the spreadsheet when it was read; left out while it was not read in one state yet. */
  version: z.string().optional(),
  sheetId: z.string().optional(),
  /** The changes that are remembered start runs first. */
  batch: z
    .object({
      /** The id of the spreadsheet, and the title of the sheet. */
      id: z.string(),
      title: z.string(),
      firstColumn: z.int(),
      /** How many of them have. */
      done: z.int(),
      /** How many batches of this version came before. */
      number: z.int(),
      /** There are more changes in this version than are remembered. */
      isPart: z.boolean(),
    })
    .optional(),
  /** When what was read of this version is read once more, and the number of the batch that is next then. */
  again: z.object({ at: z.number(), number: z.int() }).optional(),
  /** How far a sheet was read that takes several polls: what was read is remembered. */
  reading: z
    .object({
      /** Of the spreadsheet when it was begun. */
      version: z.string(),
      sheetId: z.string(),
      /** The row, counted from 0, from which it continues. */
      next: z.int(),
    })
    .optional(),
  /** Why it starts over, while it could not yet. */
  lost: z.string().optional(),
  /** How often in a row it was changed while it was read. */
  torn: z.int().optional(),
  /** The number of the batch that is next, where this version has more changes. */
  next: z.int().optional(),
});

type Cursor = z.infer<typeof cursorSchema>;

/**
 * As often a spreadsheet that was changed while it was read in parts is read again by the next poll; then
 * what was read counts.
 */
const MOST_TORN = 3;
const EVENTS: readonly RowEvent[] = ['added', 'updated', 'removed'];
const UNKNOWN = 'the known rows are lost';

export type Poll = {
  book: Book;
  trigger: SpreadsheetTrigger;
  context: PollContext;
  gid?: string | undefined;
};

/** @throws PollError */
export async function poll(poll: Poll, cursor: unknown): Promise<Polled> {
  const parsed = cursorSchema.safeParse(cursor ?? {});
  if (!parsed.success) return compare(poll, { lost: 'the stored cursor is invalid' });
  const from = parsed.data;
  if (!from.batch) return compare(poll, from);
  const state = await readState(poll.context);
  return state ? tell(poll, state, { ...from, batch: from.batch }) : compare(poll, { lost: UNKNOWN });
}

async function readState({ knownItems }: PollContext): Promise<StoredState | undefined> {
  const bytes = await knownItems.read();
  return bytes && decodeState(bytes);
}

/** Brings the changes that are remembered. */
function tell(
  { trigger, context }: Poll,
  state: StoredState,
  { batch, ...from }: Cursor & { batch: NonNullable<Cursor['batch']> },
): Polled {
  const found = collect(context);
  const { id, title: sheet, firstColumn, number } = batch;
  const { names, namesBefore, pending } = state;
  const seen = { spreadsheetId: id, sheet, firstColumn, names, namesBefore };
  const bounds = { maxBytes: context.maxEventBytes, ...(trigger.perRow && { most: 1 }) };
  let { done } = batch;
  while (done < pending.length && !found.isFull()) {
    const { output, count } = outputOf(pending.slice(done), seen, bounds);
    const digest = digestOf(JSON.stringify([number, done, output]));
    if (!found.add({ key: `${id}/${from.version}/${digest}`, output })) break;
    done += count;
  }
  const { events } = found;
  if (done < pending.length) return { events, cursor: { ...from, batch: { ...batch, done } }, more: true };
  const next = batch.isPart ? { next: number + 1 } : {};
  return { events, cursor: { ...from, ...next }, more: batch.isPart };
}

/** Compares the rows with what is remembered of them. */
async function compare(poll: Poll, from: Cursor): Promise<Polled> {
  const { book, context, trigger } = poll;
  const place = placeOf(poll);
  const { id, version } = await book.state();
  const isDueAgain = from.again !== undefined && Date.now() >= from.again.at;
  const isSettled = from.next === undefined && !from.reading && !isDueAgain;
  if (from.version === version && isSettled) return { events: [], cursor: from, more: false };
  const watched = await watchedOf(book, place, trigger);
  const work = () => readAndCompare(poll, { id, watched, version, from });
  if (partsOf(watched).length <= 1) return work();
  const done = await mutex.run(work, context.enough);
  // Others read large sheets meanwhile: the next poll asks again.
  return done ? done.result : { events: [], cursor: from, more: true };
}

const mutex = createMutex();

type Now = { id: string; watched: Watched; version: string; from: Cursor };

async function readAndCompare(poll: Poll, now: Now): Promise<Polled> {
  const { watched, from } = now;
  const { before, begun, why, kept } = await knownOf(poll, now);
  const version = begun?.version ?? now.version;
  const reading = await readRows(watched, { before, begun, enough: poll.context.enough });
  if (reading.next !== undefined)
    return goOnLater(poll, { ...now, from: kept, version }, { before, reading });
  // What was changed while it was read in parts may be rows of two states.
  const isInParts = begun !== undefined || partsOf(watched).length > 1;
  const { torn = 0 } = kept;
  if (isInParts && torn < MOST_TORN && (await watched.book.state()).version !== version)
    return { events: [], cursor: { ...kept, torn: torn + 1 }, more: false };
  const settled = await settle(poll, { ...now, from, version }, { before, reading });
  return why === undefined ? settled : { ...settled, baselineLost: why };
}

/**
 * What the rows were, what polls before this one read of what they are, and what of the cursor stays while
 * they are read.
 */
async function knownOf({ context }: Poll, now: Now) {
  const { watched, from } = now;
  const isBegun = from.sheetId !== undefined;
  const isSame = from.sheetId === watched.sheet.id;
  const state = isBegun || from.reading ? await readState(context) : undefined;
  const why = from.lost ?? whyLost({ isBegun, isSame, isKnown: state !== undefined });
  const before = isBegun && isSame && state ? { names: state.names, rows: state.rows() } : undefined;
  const begun = state && begunOf(now, state);
  const { reading, ...rest } = from;
  // What was read of another state than this one counts for nothing.
  const torn = (from.torn ?? 0) + (reading && !begun ? 1 : 0);
  const kept: Cursor = { ...(why === undefined ? rest : { lost: why }), torn };
  return { before, begun, why, kept };
}

/** What polls before this one read, where it is worth to continue with it. */
function begunOf({ version, watched, from: { reading, torn = 0 } }: Now, state: StoredState) {
  const rows = state.begun();
  if (!rows || reading?.sheetId !== watched.sheet.id) return undefined;
  return reading.version === version || torn >= MOST_TORN ? { ...rows, ...reading } : undefined;
}

/** Remembers what was read so far. */
async function goOnLater(
  { context }: Poll,
  { watched, version, from }: Now,
  { before, reading }: Compared,
): Promise<Polled> {
  context.signal.throwIfAborted();
  const { names, rows, next = 0 } = reading;
  const state = { names: before?.names, rows: before?.rows ?? [], pending: [], begun: { names, rows } };
  await context.knownItems.store(await encodeState(state, (row) => reading.isSpare(row)));
  const progress = { version, sheetId: watched.sheet.id, next };
  return { events: [], cursor: { ...from, reading: progress }, more: true };
}

type Known = { isBegun: boolean; isSame: boolean; isKnown: boolean };

function whyLost({ isBegun, isSame, isKnown }: Known): string | undefined {
  if (!isBegun) return undefined;
  if (!isSame) return 'the trigger watches another sheet than before';
  return isKnown ? undefined : UNKNOWN;
}

type Compared = { before: Before | undefined; reading: Reading };

/** Remembers what the rows are now, and what happened to them. */
async function settle(
  { book: { lagMs }, trigger, context }: Poll,
  { id, watched: { sheet, area }, version, from }: Now,
  { before, reading }: Compared,
): Promise<Polled> {
  const { names, rows, isIncomparable } = reading;
  if (before && isIncomparable) context.log.warn({}, 'columns removed, other changes unknown');
  const isKeyed = trigger.keyColumn !== undefined;
  const changes = !before || isIncomparable ? [] : diff(before.rows, rows, isKeyed);
  const taken = take(changes, rows, new Set(trigger.events?.length ? trigger.events : EVENTS));
  const { pending, isPart } = taken;
  const next: State = { names, namesBefore: before?.names, rows: taken.rows, pending };
  await context.knownItems.store(await encodeState(next));
  const { number, ...rest } = readOf(from, version, lagMs);
  const cursor: Cursor = { version, sheetId: sheet.id, ...rest };
  if (pending.length === 0) return { events: [], cursor, more: false };
  const batch = { id, title: sheet.title, firstColumn: area.startColumn, done: 0, number, isPart };
  return { events: [], cursor: { ...cursor, batch }, more: true };
}

/** The number of the batch that this reading of the version brings, and when it is to be read once more. */
function readOf(
  { version: before, next, again }: Cursor,
  version: string,
  lagMs: number,
): Pick<Cursor, 'again'> & { number: number } {
  // A version that was read for the second time is known.
  if (before === version && next === undefined) return { number: again?.number ?? 0 };
  const number = next ?? 0;
  return { number, ...(lagMs > 0 && { again: { at: Date.now() + lagMs, number: number + 1 } }) };
}

async function watchedOf(
  book: Book,
  place: Place,
  { keyColumn, header = true }: SpreadsheetTrigger,
): Promise<Watched> {
  const sheet = await book.sheet(place.name);
  return { book, sheet, area: within(sheet, place.area), hasHeader: header, keyColumn };
}

type Place = { name: SheetName; area: Area | undefined };

/** @throws PollError `InvalidTrigger` */
function placeOf({ trigger: { sheet, range }, gid }: Poll): Place {
  const { title: inRange, area } = range === undefined ? {} : rangeOf(range);
  if (sheet !== undefined && inRange !== undefined && sheet !== inRange)
    throw new PollError('InvalidTrigger', 'sheet and range name two sheets: leave one of them out');
  const title = sheet ?? inRange;
  if (title !== undefined) return { name: { title }, area };
  return { name: gid === undefined ? {} : { gid }, area };
}

function within({ rowCount, columnCount }: Sheet, area: Area | undefined): Area {
  const { startRow = 0, startColumn = 0, endRow = Infinity, endColumn = Infinity } = area ?? {};
  const [firstRow, firstColumn] = [Math.min(startRow, rowCount), Math.min(startColumn, columnCount)];
  const columns = { startColumn: firstColumn, endColumn: Math.min(endColumn, columnCount) };
  // Beside the last column there are no rows, either.
  if (firstColumn >= columns.endColumn) return { ...columns, startRow: firstRow, endRow: firstRow };
  return { ...columns, startRow: firstRow, endRow: Math.min(endRow, rowCount) };
}
