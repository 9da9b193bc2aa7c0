/**
 * New mail of one label of a Gmail account: by the history since the last poll, or, if the history does not
 * reach back so far, by listing mail since the last one that was read. Events are identified by Gmail's
 * message ID.
 */
import * as z from 'zod';
import type { MailTrigger } from '../../../api/trigger.ts';
import { PollError, type PollContext, type Polled, type PolledEvent } from '../../contract/poller.ts';
import { collect, untilEnough } from '../../contract/collect.ts';
import type { PollMail } from '../../contract/provider.ts';
import { getGmail, openGmail, type Gmail } from './gmail.ts';
import { readGmail, summaryOf, type GmailSummary } from './gmailMail.ts';
import { matches } from '../../mail/filter.ts';
import { outputOf } from '../../mail/output.ts';

const cursorSchema = z.object({
  account: z.string(),
  /** The last record of the history that was checked. */
  historyId: z.string(),
  /**
   * When the newest mail that was checked came, in milliseconds: from where to list when the history is too
   * old.
   */
  time: z.number(),
  /** The last mails that were checked: not to take them again from the list. */
  seen: z.array(z.string()).max(20),
  /** While a list is walked: up to when, in seconds. */
  until: z.number().optional(),
});

type Cursor = z.infer<typeof cursorSchema>;

const profileSchema = z.object({ emailAddress: z.string(), historyId: z.string() });
const listSchema = z.object({
  messages: z.array(z.object({ id: z.string() })).optional(),
  nextPageToken: z.string().optional(),
});
const historySchema = z.object({
  history: z
    .array(
      z.object({
        id: z.string(),
        messagesAdded: z
          .array(
            z.object({ message: z.object({ id: z.string(), labelIds: z.array(z.string()).optional() }) }),
          )
          .optional(),
      }),
    )
    .optional(),
  nextPageToken: z.string().optional(),
});
const labelsSchema = z.object({ labels: z.array(z.object({ id: z.string(), name: z.string() })).optional() });

const PAGE = '500';
/** Pages of ids that are read for one poll: 20,000 mails. */
const MOST_PAGES = 40;
const MOST_SEEN = 20;
/** Mails that are checked for one poll, when most of them do not match. */
const MOST_CHECKED = 200;

/**
 * Polls the account once.
 * @throws PollError
 */
export const pollGmail: PollMail = async (credential, trigger, cursor, context, since) => {
  const gmail = openGmail(credential, context);
  const profile = await getGmail(gmail, 'profile', { schema: profileSchema });
  if (!profile) throw new PollError('Rejected', 'the account has no Gmail mailbox');
  const label = await labelOf(gmail, trigger.mailbox ?? 'INBOX');
  const now = { account: profile.emailAddress, historyId: profile.historyId };
  if (cursor === undefined) {
    const baseline = await begin(gmail, now, label, since);
    return { events: [], cursor: baseline, more: baseline.until !== undefined };
  }
  const parsed = cursorSchema.safeParse(cursor);
  if (!parsed.success || parsed.data.account !== now.account) {
    const baselineLost = parsed.success
      ? 'the credential is connected with another account than before'
      : 'the stored cursor is invalid';
    return { events: [], cursor: await begin(gmail, now, label), more: false, baselineLost };
  }
  return poll({ gmail, trigger, label, context, from: parsed.data, historyId: now.historyId });
};

type Now = { account: string; historyId: string };

/** From now on, or from a point in time: then everything since is listed. */
async function begin(gmail: Gmail, now: Now, label: string, since?: Date): Promise<Cursor> {
  const [newest] = (await list(gmail, { labelIds: [label], maxResults: '1' })).messages ?? [];
  const mail = newest && (await summaryOf(gmail, newest.id));
  const time = mail?.received.getTime() ?? 0;
  if (!since || time < since.getTime()) return { ...now, time, seen: newest ? [newest.id] : [] };
  return { ...now, time: since.getTime() - 1, seen: [], until: endOf(time) };
}

const endOf = (time: number): number => Math.floor(time / 1_000) + 2;

type Poll = {
  gmail: Gmail;
  trigger: MailTrigger;
  label: string;
  context: PollContext;
  from: Cursor;
  historyId: string;
};

async function poll(poll: Poll): Promise<Polled> {
  const { from, historyId } = poll;
  if (from.until === undefined && from.historyId === historyId)
    return { events: [], cursor: from, more: false };
  const isListing = from.until !== undefined;
  const found = isListing ? undefined : await historyOf(poll);
  if (found) return take(poll, found.steps, { ...from, historyId: found.end }, found.isPart);
  // What comes from now on is in the history; what came before it is in the list.
  const start = isListing ? from : { ...from, historyId, until: Math.floor(Date.now() / 1_000) + 60 };
  const ids = await listed(poll, start);
  const { until: _until, ...end } = start;
  const steps = ids.map((id) => ({ id, cursor: start }));
  return take({ ...poll, from: start }, steps, end, false);
}

/** A mail, and the cursor once it was checked. */
type Step = { id: string; cursor: Cursor };

/** Polls the mails in order, up to as much as is wanted. `end`: the cursor when all were checked. */
async function take(poll: Poll, steps: readonly Step[], end: Cursor, isPart: boolean): Promise<Polled> {
  const found = collect(poll.context);
  let place = poll.from;
  const { enough } = poll.context;
  const polled = (cursor: Cursor, more: boolean): Polled => ({ events: found.events, cursor, more });
  const hasMoved = () => place !== poll.from;
  try {
    for (const { id, cursor } of steps.slice(0, MOST_CHECKED)) {
      if (enough.aborted && hasMoved()) return polled(place, true);
      const mail = place.seen.includes(id) ? undefined : await summaryOf(poll.gmail, id);
      if (mail && isEvent(mail, poll)) {
        if (found.isFull()) return polled(place, true);
        const reading = eventOf(mail, poll);
        const event = await (hasMoved() ? untilEnough(reading, enough) : reading);
        if (event && !found.add(event)) return polled(place, true);
      }
      place = passed({ ...cursor, time: place.time, seen: place.seen }, id, mail?.received);
    }
  } catch (error) {
    // What was checked before counts, so that a mail that cannot be read holds up none that came before it.
    if (!hasMoved()) throw error;
    return polled(place, true);
  }
  if (steps.length > MOST_CHECKED) return polled(place, true);
  return polled({ ...end, time: place.time, seen: place.seen }, isPart);
}

async function eventOf(
  mail: GmailSummary,
  { gmail, trigger, context }: Poll,
): Promise<PolledEvent | undefined> {
  const content = await readGmail(gmail, mail, trigger);
  if (!content) return undefined;
  return { key: mail.id, output: outputOf(content, trigger, mail.received, context.maxEventBytes) };
}

function passed(cursor: Cursor, id: string, received: Date | undefined): Cursor {
  if (!received) return cursor;
  const seen = [...cursor.seen.filter((each) => each !== id), id].slice(-MOST_SEEN);
  return { ...cursor, time: Math.max(cursor.time, received.getTime()), seen };
}

function isEvent(mail: GmailSummary, { label, trigger, from }: Poll): boolean {
  if (!mail.labels.has(label) || mail.labels.has('DRAFT')) return false;
  if (trigger.unseenOnly && !mail.labels.has('UNREAD')) return false;
  // The list is asked for whole seconds.
  if (from.until !== undefined && mail.received.getTime() < from.time) return false;
  return matches(mail.header, trigger);
}

/** What the history says was added, oldest first; undefined when it does not reach back so far (404). */
async function historyOf({
  gmail,
  from,
  label,
  historyId,
}: Poll): Promise<{ steps: Step[]; end: string; isPart: boolean } | undefined> {
  const steps: Step[] = [];
  let pageToken: string | undefined;
  let last = from.historyId;
  for (let page = 0; page < MOST_PAGES && steps.length < MOST_CHECKED; page += 1) {
    const query = {
      startHistoryId: from.historyId,
      historyTypes: 'messageAdded',
      labelId: label,
      maxResults: PAGE,
      pageToken,
    };
    const answer = await getGmail(gmail, 'history', { query, schema: historySchema });
    if (!answer) return undefined;
    for (const record of answer.history ?? []) {
      const added = (record.messagesAdded ?? []).map(({ message }) => message.id);
      // A record counts as read with the last of its mails.
      added.forEach((id, index) => {
        const isLast = index === added.length - 1;
        steps.push({ id, cursor: { ...from, historyId: isLast ? record.id : last } });
      });
      last = record.id;
    }
    pageToken = answer.nextPageToken;
    if (pageToken === undefined) return { steps, end: historyId, isPart: false };
  }
  return { steps, end: last, isPart: true };
}

/** What the list has since the last mail that was seen, oldest first. */
async function listed({ gmail, label, trigger }: Poll, { time, until, seen }: Cursor): Promise<string[]> {
  const after = Math.max(0, Math.floor(time / 1_000) - 1);
  const q = `after:${after} before:${until}${trigger.unseenOnly ? ' is:unread' : ''}`;
  const ids: string[] = [];
  let pageToken: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const answer = await list(gmail, { labelIds: [label], q, maxResults: PAGE, pageToken });
    ids.push(...(answer.messages ?? []).map(({ id }) => id));
    pageToken = answer.nextPageToken;
    if (pageToken === undefined) break;
  }
  const known = new Set(seen);
  return ids.toReversed().filter((id) => !known.has(id));
}

async function list(gmail: Gmail, query: Record<string, string | readonly string[] | undefined>) {
  return (await getGmail(gmail, 'messages', { query, schema: listSchema })) ?? {};
}

/** The id of a label that people know by its name. */
async function labelOf(gmail: Gmail, name: string): Promise<string> {
  if (name.toUpperCase() === 'INBOX') return 'INBOX';
  const { labels = [] } = (await getGmail(gmail, 'labels', { schema: labelsSchema })) ?? {};
  const label = labels.find((each) => each.name === name) ?? labels.find((each) => each.id === name);
  if (label) return label.id;
  throw new PollError(
    'MailboxMissing',
    `the account has no label named ${name}: make it, or correct mailbox`,
  );
}
