/**
 * New mail of one IMAP mailbox. Events are identified by UIDVALIDITY and UID (RFC 3501 section 2.3.1.1). UIDs
 * only grow, so new mail has UIDs above the last one that was read. Nothing in the mailbox is changed.
 */
import type { ImapFlow, MailboxObject } from 'imapflow';
import * as z from 'zod';
import { placeHash } from '../../contract/place.ts';
import type { MailTrigger } from '../../../api/trigger.ts';
import { PollError, type PollContext, type Polled, type PolledEvent } from '../../contract/poller.ts';
import { collect, untilEnough } from '../../contract/collect.ts';
import { readHeader } from '../../mail/content.ts';
import { hasFilter, matches } from '../../mail/filter.ts';
import { fetchMails, mustBeOpen, openMailbox, refusalOf, searchMailbox, withImap } from './connection.ts';
import type { PollMail } from '../../contract/provider.ts';
import { imapAccount } from './account.ts';
import { headerPart, readMail, type MailSummary } from './mail.ts';
import { outputOf } from '../../mail/output.ts';

const cursorSchema = z.object({
  /** Whose mailbox it is about, as a hash: another account makes it void. */
  place: z.string(),
  uidValidity: z.string(),
  /** The last UID that was checked. */
  uid: z.int().min(0),
  /**
   * Of the mails up to that UID only those that came since then count: where somebody asked to begin in the
   * past.
   */
  since: z.object({ time: z.string(), upTo: z.int() }).optional(),
});

type Cursor = z.infer<typeof cursorSchema>;

/** UIDs that are asked for at once: the answer stays small, however many mails came. */
const WINDOW = 10_000;
const MOST_WINDOWS = 100;
/** Mails of which the header is checked for one poll, when most of them do not match. */
const MOST_CHECKED = 500;
const BATCH = 50;
/** Of a header, to find sender and subject in it. */
const FILTERED_BYTES = 65_536;

/**
 * Polls the mailbox once.
 * @throws PollError
 */
export const pollImap: PollMail = (credential, trigger, cursor, context, since) => {
  const account = imapAccount(credential);
  return withImap(account, context, async (client) => {
    const path = trigger.mailbox ?? 'INBOX';
    const mailbox = await openMailbox(client, path);
    const parsed = cursorSchema.safeParse(cursor);
    const place = placeHash([account.host, account.username, path]);
    const here = { place, uidValidity: String(mailbox.uidValidity) };
    const isOfHere = parsed.success && problemOf(parsed.data, { ...here, uid: Infinity }) === undefined;
    const last = await lastUid(client, mailbox, isOfHere ? parsed.data.uid : 0);
    const now: Cursor = { ...here, uid: last };
    if (cursor === undefined) return { events: [], ...begin(now, since) };
    const lost = problemOf(parsed.success ? parsed.data : undefined, now);
    if (lost !== undefined || !parsed.success)
      return { events: [], cursor: now, more: false, baselineLost: lost ?? UNREADABLE };
    return poll(client, trigger, { from: parsed.data, last, context });
  });
};

const UNREADABLE = 'the stored cursor is invalid';

/** Why nothing can be said about what is new since the cursor; undefined where it can. */
function problemOf(cursor: Cursor | undefined, now: Cursor): string | undefined {
  if (!cursor) return UNREADABLE;
  if (cursor.place !== now.place) return 'the trigger watches another account or mailbox than before';
  if (cursor.uidValidity !== now.uidValidity)
    return 'the mail server renumbered the mails of the mailbox (UIDVALIDITY changed)';
  if (cursor.uid > now.uid) return 'the mailbox was restored to an older state';
  return undefined;
}

/** The highest UID that was ever given; `known` is one that was. */
async function lastUid(
  client: ImapFlow,
  { uidNext, exists, path }: MailboxObject,
  known: number,
): Promise<number> {
  if (uidNext) return uidNext - 1;
  const status = await client.status(path, { uidNext: true });
  if (status && status.uidNext) return status.uidNext - 1;
  // RFC 3501 does not oblige a server to say it. Then the newest mail tells, as long as nobody removes it.
  const newest = exists > 0 ? await client.fetchOne('*', { uid: true }) : false;
  mustBeOpen(client);
  return Math.max(known, newest ? newest.uid : 0);
}

/** Starts now, or at `since`: then the first polls read the existing mails. */
function begin(now: Cursor, since?: Date): { cursor: Cursor; more: boolean } {
  if (!since || now.uid === 0) return { cursor: now, more: false };
  return { cursor: { ...now, uid: 0, since: { time: since.toISOString(), upTo: now.uid } }, more: true };
}

type Poll = { from: Cursor; last: number; context: PollContext };

/** What lies above the cursor, up to as much as is wanted. */
async function poll(client: ImapFlow, trigger: MailTrigger, { from, last, context }: Poll): Promise<Polled> {
  const found = collect(context);
  let uid = from.uid;
  const hasMoved = () => found.events.length > 0 || uid > from.uid;
  const polled = (more: boolean): Polled => ({ events: found.events, cursor: advanced(from, uid), more });
  try {
    for await (const { mail, upTo } of newMails(client, trigger, from, last)) {
      if (context.enough.aborted && hasMoved()) return polled(true);
      if (mail && mail.received >= startOf(from, mail.uid)) {
        if (found.isFull()) return polled(true);
        const reading = eventOf(client, mail, trigger, { from, context });
        const event = await (hasMoved() ? untilEnough(reading, context.enough) : reading);
        if (event && !found.add(event)) return polled(true);
      }
      uid = upTo;
    }
  } catch (error) {
    // What was checked before counts, so that a mail that cannot be read holds up none that came before it.
    if (!hasMoved()) throw error;
    return polled(true);
  }
  return polled(uid < last);
}

/**
 * Every UID up to which was looked, with the mail where it is a wanted one. Ends early when very many do not
 * match.
 */
async function* newMails(
  client: ImapFlow,
  trigger: MailTrigger,
  from: Cursor,
  last: number,
): AsyncGenerator<{ upTo: number; mail?: MailSummary }> {
  let checked = 0;
  for (let [start, window] = [from.uid, 0]; start < last && window < MOST_WINDOWS; window += 1) {
    const end = Math.min(start + WINDOW, last, endOfPast(from, start));
    const uids = await search(client, trigger, { from, first: start + 1, end });
    for (let at = 0; at < uids.length; at += BATCH) {
      if (checked >= MOST_CHECKED) return;
      const batch = uids.slice(at, at + BATCH);
      for (const { isWanted, ...mail } of await summaries(client, trigger, batch))
        yield { upTo: mail.uid, ...(isWanted && { mail }) };
      checked += batch.length;
    }
    yield { upTo: end };
    start = end;
  }
}

async function eventOf(
  client: ImapFlow,
  mail: MailSummary,
  trigger: MailTrigger,
  { from, context }: { from: Cursor; context: PollContext },
): Promise<PolledEvent | undefined> {
  const content = await readMail(client, mail, trigger).catch((error: unknown) => {
    throw refused(error, mail.uid);
  });
  if (!content) return undefined;
  const output = outputOf(content, trigger, mail.received, context.maxEventBytes);
  return { key: `${from.place}/${from.uidValidity}/${mail.uid}`, output };
}

/** Names the mail that the server refuses: once somebody moves it away, the mails behind it are read. */
function refused(error: unknown, uid: number): unknown {
  const said = refusalOf(error);
  if (said === undefined) return error;
  return new PollError('UpstreamError', `the mail server does not give the mail with UID ${uid}: ${said}`, {
    cause: error,
  });
}

/**
 * The UIDs from `first` to `end` that there are, in order. A mail that was removed or moved away meanwhile is
 * no event.
 */
async function search(
  client: ImapFlow,
  { unseenOnly }: MailTrigger,
  { from, first, end }: { from: Cursor; first: number; end: number },
): Promise<number[]> {
  const start = startOf(from, first);
  const query = {
    uid: `${first}:${end}`,
    ...(unseenOnly ? { seen: false } : {}),
    // It knows days alone, of the server's time zone.
    ...(start > BEGINNING ? { since: new Date(start.getTime() - DAY_MS) } : {}),
  };
  const found = await searchMailbox(client, query, WINDOW);
  return found.filter((uid) => uid >= first && uid <= end).toSorted((a, b) => a - b);
}

/**
 * What must be known of mails before they are read: how large they are, when they came, whether they are
 * wanted.
 */
async function summaries(
  client: ImapFlow,
  trigger: MailTrigger,
  uids: number[],
): Promise<(MailSummary & { isWanted: boolean })[]> {
  const query = {
    uid: true,
    size: true,
    internalDate: true,
    ...(hasFilter(trigger) ? { bodyParts: [headerPart(FILTERED_BYTES)] } : {}),
  };
  const found: (MailSummary & { isWanted: boolean })[] = [];
  for (const [uid, mail] of await fetchMails(client, uids, query)) {
    const { size = 0, internalDate, headers = Buffer.alloc(0) } = mail;
    const isWanted = !hasFilter(trigger) || matches(await readHeader(headers), trigger);
    const time = new Date(internalDate ?? 0);
    found.push({ uid, size, isWanted, received: Number.isNaN(time.getTime()) ? BEGINNING : time });
  }
  return found.toSorted((a, b) => a.uid - b.uid);
}

const BEGINNING = new Date(0);
const DAY_MS = 86_400_000;

/** From when on the mail with that UID counts. */
function startOf({ since }: Cursor, uid: number): Date {
  return since && uid <= since.upTo ? new Date(since.time) : BEGINNING;
}

/** The last UID of those that count from the same time on as the next one. */
function endOfPast({ since }: Cursor, uid: number): number {
  return since && uid < since.upTo ? since.upTo : Infinity;
}

function advanced({ since, ...cursor }: Cursor, uid: number): Cursor {
  return { ...cursor, uid, ...(since && uid < since.upTo ? { since } : {}) };
}
