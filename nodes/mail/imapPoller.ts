/**
 * New mail of one IMAP mailbox. A mail is named by UIDVALIDITY and UID (RFC 3501 section 2.3.1.1): UIDs only grow, so what is new is
 * what lies above the last one that was looked at, however many mails there are. Nothing in the mailbox is changed.
 */
import { createHash } from 'node:crypto';
import type { ImapFlow, MailboxObject } from 'imapflow';
import * as z from 'zod';
import type { MailTrigger } from '../../api/trigger.ts';
import type { PollContext, Polled, PolledEvent } from '../poller.ts';
import { collect } from './collect.ts';
import { headerOf, parseHeader } from './content.ts';
import { hasFilter, matches } from './filter.ts';
import { mustBeOpen, openMailbox, searchMailbox, withImap, type ImapAccount } from './imap.ts';
import { headerPart, readMail, type MailSummary } from './imapMail.ts';
import { outputOf } from './output.ts';

const cursorSchema = z.object({
  /** Whose mailbox it is about, as a hash: another account makes it void. */
  place: z.string(),
  uidValidity: z.string(),
  /** The last UID that was looked at. */
  uid: z.int().min(0),
  /** Of the mails up to that UID only those that came since then count: where somebody asked to begin in the past. */
  since: z.object({ time: z.string(), upTo: z.int() }).optional(),
});

type Cursor = z.infer<typeof cursorSchema>;

/** UIDs that are asked for at once: the answer stays small, however many mails came. */
const WINDOW = 20_000;
const MOST_WINDOWS = 100;
/** Mails of which the header is looked at for one poll, when most of them do not match. */
const MOST_LOOKED_AT = 500;
const BATCH = 50;
/** Of a header, to find sender and subject in it. */
const FILTERED_BYTES = 65_536;

/**
 * One look at the mailbox.
 * @throws PollError
 */
export async function pollImap(
  account: ImapAccount,
  trigger: MailTrigger,
  cursor: unknown,
  context: PollContext,
  since?: Date,
): Promise<Polled> {
  return withImap(account, context, async (client) => {
    const path = trigger.mailbox ?? 'INBOX';
    const mailbox = await openMailbox(client, path);
    const last = await lastUid(client, mailbox);
    const place = hashOf([account.host, account.username, path]);
    const now: Cursor = { place, uidValidity: String(mailbox.uidValidity), uid: last };
    const parsed = cursorSchema.safeParse(cursor);
    if (cursor === undefined) return { events: [], ...(await begin(client, now, since)) };
    const lost = problemOf(parsed.success ? parsed.data : undefined, now);
    if (lost !== undefined || !parsed.success)
      return { events: [], cursor: now, more: false, baselineLost: lost ?? UNREADABLE };
    return look(client, trigger, { from: parsed.data, last, context });
  });
}

const UNREADABLE = 'the place up to which mail was seen cannot be read';

/** Why nothing can be said about what is new since the cursor; undefined where it can. */
function problemOf(cursor: Cursor | undefined, now: Cursor): string | undefined {
  if (!cursor) return UNREADABLE;
  if (cursor.place !== now.place) return 'the trigger watches another account or mailbox than before';
  if (cursor.uidValidity !== now.uidValidity)
    return 'the mail server has numbered the mails of the mailbox anew (UIDVALIDITY changed)';
  if (cursor.uid > now.uid) return 'the mailbox was put back to an older state';
  return undefined;
}

/** The highest UID that was ever given. */
async function lastUid(client: ImapFlow, { uidNext, exists, path }: MailboxObject): Promise<number> {
  if (uidNext) return uidNext - 1;
  const status = await client.status(path, { uidNext: true });
  if (status && status.uidNext) return status.uidNext - 1;
  // RFC 3501 does not oblige a server to say it.
  const newest = exists > 0 ? await client.fetchOne('*', { uid: true }) : false;
  mustBeOpen(client);
  return newest ? newest.uid : 0;
}

/** From now on, or from a point in time: then the first look is already at what came since. */
async function begin(
  client: ImapFlow,
  now: Cursor,
  since?: Date,
): Promise<{ cursor: Cursor; more: boolean }> {
  if (!since || now.uid === 0) return { cursor: now, more: false };
  // SINCE knows days alone, of the server's time zone.
  const day = new Date(since.getTime() - 86_400_000);
  const first = least(await searchMailbox(client, { since: day }, ['MIN']));
  if (first === undefined) return { cursor: now, more: false };
  const cursor = { ...now, uid: first - 1, since: { time: since.toISOString(), upTo: now.uid } };
  return { cursor, more: true };
}

function least(numbers: readonly number[]): number | undefined {
  return numbers.length === 0 ? undefined : numbers.reduce((a, b) => Math.min(a, b));
}

type Look = { from: Cursor; last: number; context: PollContext };

/** What lies above the cursor, up to as much as is wanted. */
async function look(client: ImapFlow, trigger: MailTrigger, { from, last, context }: Look): Promise<Polled> {
  const found = collect(context);
  let uid = from.uid;
  const polled = (more: boolean): Polled => ({ events: found.events, cursor: advanced(from, uid), more });
  try {
    for await (const { mail, upTo } of newMails(client, trigger, from.uid, last)) {
      if (mail && mail.received >= startOf(from, mail.uid)) {
        if (found.isFull()) return polled(true);
        const event = await eventOf(client, mail, trigger, { from, context });
        if (event && !found.add(event)) return polled(true);
      }
      uid = upTo;
    }
  } catch (error) {
    // What was read before counts, so that a mail that cannot be read holds up none that came before it.
    if (found.events.length === 0) throw error;
    return polled(true);
  }
  return polled(uid < last);
}

/** Every UID up to which was looked, with the mail where it is a wanted one. Ends early when very many do not match. */
async function* newMails(
  client: ImapFlow,
  trigger: MailTrigger,
  after: number,
  last: number,
): AsyncGenerator<{ upTo: number; mail?: MailSummary }> {
  let lookedAt = 0;
  for (
    let [start, window] = [after, 0];
    start < last && window < MOST_WINDOWS;
    start += WINDOW, window += 1
  ) {
    const end = Math.min(start + WINDOW, last);
    const uids = await search(client, trigger, start + 1, end);
    for (let at = 0; at < uids.length; at += BATCH) {
      if (lookedAt >= MOST_LOOKED_AT) return;
      const batch = uids.slice(at, at + BATCH);
      for (const { isWanted, ...mail } of await summaries(client, trigger, batch))
        yield { upTo: mail.uid, ...(isWanted && { mail }) };
      lookedAt += batch.length;
    }
    yield { upTo: end };
  }
}

async function eventOf(
  client: ImapFlow,
  mail: MailSummary,
  trigger: MailTrigger,
  { from, context }: { from: Cursor; context: PollContext },
): Promise<PolledEvent | undefined> {
  const content = await readMail(client, mail, trigger);
  if (!content) return undefined;
  const output = outputOf(content, trigger, mail.received, context.maxEventBytes);
  return { key: `${from.place}/${from.uidValidity}/${mail.uid}`, output };
}

/** The UIDs from `first` to `end` that there are, in order. A mail that was removed or moved away meanwhile is no event. */
async function search(
  client: ImapFlow,
  { unseenOnly }: MailTrigger,
  first: number,
  end: number,
): Promise<number[]> {
  const query = { uid: `${first}:${end}`, ...(unseenOnly ? { seen: false } : {}) };
  const found = await searchMailbox(client, query);
  return found.filter((uid) => uid >= first && uid <= end).toSorted((a, b) => a - b);
}

/** What must be known of mails before they are read: how large they are, when they came, whether they are wanted. */
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
  const fetched = await client.fetchAll(uids.join(','), query, { uid: true });
  mustBeOpen(client);
  const found: (MailSummary & { isWanted: boolean })[] = [];
  for (const { uid, size = 0, internalDate, headers } of fetched) {
    const isWanted = !headers || matches(headerOf(await parseHeader(headers)), trigger);
    const time = new Date(internalDate ?? 0);
    found.push({ uid, size, isWanted, received: Number.isNaN(time.getTime()) ? new Date(0) : time });
  }
  return found.toSorted((a, b) => a.uid - b.uid);
}

function startOf({ since }: Cursor, uid: number): Date {
  return since && uid <= since.upTo ? new Date(since.time) : new Date(0);
}

function advanced({ since, ...cursor }: Cursor, uid: number): Cursor {
  return { ...cursor, uid, ...(since && uid < since.upTo ? { since } : {}) };
}

function hashOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}
