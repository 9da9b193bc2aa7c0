/**
 * What happens to one project again and again: it falls asleep, and is woken by events, a callback or a mail,
 * at once or a while later, or just before it would fall asleep.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { deliverMail } from '../../support/installation/demoMailbox.ts';
import { kubectl } from '../../support/cluster/kubectl.ts';
import type { ReceivedCall } from '../../support/providers/http/httpSink.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { POLL } from '../../../operator/shared/names.ts';
import type { Attempts } from '../attempt.ts';
import { eventIn } from '../effects.ts';
import type { SentEvent } from '../evidence.ts';
import type { Harness } from '../harness.ts';
import { isAccepted } from '../sender.ts';
import type { Callback, Mail } from './evidence.ts';
import type { Killer } from './kills.ts';
import type { Pools } from './pools.ts';
import { timesOf, WAIT_MS, type SentKind } from './workflows.ts';

export type Visits = {
  harness: Harness;
  index: number;
  attempts: Attempts;
  pools: Pools;
  killer: Killer;
  random: () => number;
  events: SentEvent[];
  callbacks: Callback[];
  mails: Mail[];
  /** Events whose callback was not called yet. */
  asked: string[];
  /** How many ids were given. */
  count: number;
  /** What is still under way. */
  sending: Promise<void>[];
};

const RETRY_MS = 500;
const SEND_WITHIN_MS = 120_000;
/** Longer than a project is awake that gets nothing. */
const ASLEEP_WITHIN_MS = 150_000;
/** Longer than a project takes to wake after a mail that its next poll finds. */
const AWAKE_WITHIN_MS = 60_000;
/** From the events of a visit until the project is read without work for the time after which it sleeps. */
const NEARLY_ASLEEP_MS = { least: 34_000, most: 43_000 };
const NEARLY_ASLEEP_SHARE = 0.25;
const LONGEST_PAUSE_MS = 12_000;
/** Kills come so long before a wait is due: before the project is woken for it, or just before its end. */
const BEFORE_WAIT_MS = [11_000, 1_000] as const;
const BEFORE_SCHEDULE_MS = 1_000;
/** A wait that begins later would prolong the run. */
const LAST_WAIT_MS = 90_000;

const VISITS = [ask, callBack, wait, mail] as const;

/** Until that time, by the wall clock. */
export async function visitAgainAndAgain(visits: Visits, until: number): Promise<void> {
  const { index, pools, harness, random } = visits;
  const ending = new AbortController();
  const schedules = timesOf(index, Date.now(), until).map((time) =>
    beforeSchedule(visits, time, ending.signal),
  );
  for (let turn = index; Date.now() < until; turn += 1) {
    await pools.until('asleep', harness.project, timeLeft(ASLEEP_WITHIN_MS, until));
    await delay(pauseMs(random()));
    if (Date.now() >= until) break;
    await VISITS[turn % VISITS.length]?.(visits, until);
    // Otherwise the next visit would come while it is still woken for this one.
    await pools.until('awake', harness.project, timeLeft(AWAKE_WITHIN_MS, until));
    if (random() < NEARLY_ASLEEP_SHARE) {
      const { least, most } = NEARLY_ASLEEP_MS;
      await delay(least + random() * (most - least));
      send(visits, 'note');
    }
  }
  ending.abort();
  await Promise.all(schedules);
}

/** At most so long, and not beyond the end. */
const timeLeft = (most: number, until: number): number => Math.max(1, Math.min(most, until - Date.now()));

/** A third comes at once, when the operator does not listen for messages of the project yet. */
function pauseMs(share: number): number {
  return Math.max(0, share * 1.5 - 0.5) * LONGEST_PAUSE_MS;
}

/** Calls callbacks and has mails polled that are left, and waits for all answers. */
export async function endVisits(visits: Visits): Promise<void> {
  while (visits.asked.length > 0) await callBack(visits, Infinity);
  await pollMails(visits);
  await Promise.all(visits.sending);
}

async function beforeSchedule({ harness, pools, killer }: Visits, time: number, signal: AbortSignal) {
  const ms = time - BEFORE_SCHEDULE_MS - Date.now();
  const isTime = await delay(Math.max(0, ms), true, { signal }).catch(() => false);
  if (isTime && pools.isAsleep(harness.project)) await killer.reached('due', harness.project);
}

function newId(visits: Visits): string {
  visits.count += 1;
  return `ev-${visits.harness.name}-${visits.count}`;
}

/** Sends it until it is accepted. */
function send(visits: Visits, workflow: SentKind): SentEvent {
  const { harness, attempts, pools, killer, sending } = visits;
  const event: SentEvent = { id: newId(visits), workflow, attempts: [] };
  visits.events.push(event);
  const { id } = event;
  const outgoing = {
    url: `${harness.gateway.publicURL}/webhook/${harness.project}.${workflow}/in`,
    headers: { 'idempotency-key': id },
    body: JSON.stringify({ event: id }),
  };
  const deliver = async (): Promise<void> => {
    for (const end = Date.now() + SEND_WITHIN_MS; Date.now() < end; await delay(RETRY_MS)) {
      const attempt = await attempts.send(outgoing, visits.count % 2 === 0 ? 'new' : 'kept');
      event.attempts.push(attempt);
      if (!isAccepted(attempt)) continue;
      if (pools.isAsleep(harness.project)) await killer.reached('accepted', harness.project);
      return;
    }
  };
  sending.push(deliver());
  return event;
}

async function ask(visits: Visits): Promise<void> {
  send(visits, 'note');
  send(visits, 'reply');
  visits.asked.push(send(visits, 'ask').id);
  send(visits, 'note');
}

/** A second call with another body, which must change nothing, follows the first one. */
async function callBack(visits: Visits, until: number): Promise<void> {
  const { harness, attempts, killer, callbacks, asked } = visits;
  const event = asked.shift();
  if (event === undefined) return ask(visits);
  const url = await callbackURL(visits, event).catch(() => undefined);
  // Its run, which never ends then, is told as lost.
  if (url === undefined) return;
  if (until !== Infinity) await killer.reached('due', harness.project);
  const callback: Callback = { event, at: Date.now(), isAnswered: false };
  callbacks.push(callback);
  const call = async (said: string) =>
    isAccepted(await attempts.send({ url, headers: {}, body: JSON.stringify({ said }) }, 'new'));
  for (const end = Date.now() + SEND_WITHIN_MS; Date.now() < end && !callback.isAnswered; ) {
    callback.isAnswered = await call(event);
    if (!callback.isAnswered) await delay(RETRY_MS);
  }
  await call('a repetition');
}

/** As the first step of its run sent it, at the address at which this machine reaches the gateway. */
async function callbackURL({ harness }: Visits, event: string): Promise<string> {
  const { body } = await pollUntil(`the URL of ${event}`, () => stepOf(harness, event), {
    timeoutMs: SEND_WITHIN_MS,
    everyMs: 500,
  });
  const { url } = JSON.parse(body) as { url: string };
  return url.replace(/^https?:\/\/[^/]+/, harness.gateway.publicURL);
}

/** The call of the first step of the event's run. */
async function stepOf({ sinks }: Harness, event: string): Promise<ReceivedCall | undefined> {
  const calls = await receivedCalls(sinks.http);
  return calls.find(
    ({ body, idempotencyKey }) => eventIn(body) === event && nodeOf(idempotencyKey) === 'first',
  );
}

const nodeOf = (key = ''): string | undefined => key.split('/')[2];

/** All calls that the sink had so far. */
export async function receivedCalls(sink: string): Promise<ReceivedCall[]> {
  const response = await fetch(`${sink}/calls`);
  return (await response.json()) as ReceivedCall[];
}

async function wait(visits: Visits, until: number): Promise<void> {
  const { harness, killer, random, sending } = visits;
  send(visits, 'note');
  if (Date.now() > until - LAST_WAIT_MS) return void send(visits, 'reply');
  const { id } = send(visits, 'wait');
  const beforeMs = BEFORE_WAIT_MS[random() < 0.5 ? 0 : 1];
  const beforeDue = async (): Promise<void> => {
    const first = await pollUntil(`the first step of ${id}`, () => stepOf(harness, id), {
      timeoutMs: SEND_WITHIN_MS,
      everyMs: 1_000,
    }).catch(() => undefined);
    if (!first) return;
    await delay(Math.max(0, first.at + WAIT_MS - beforeMs - Date.now()));
    await killer.reached('due', harness.project);
  };
  sending.push(beforeDue());
}

async function mail(visits: Visits): Promise<void> {
  const { harness, killer, mails } = visits;
  const event = newId(visits);
  const text = ['From: Ada <ada@example.com>', `Subject: ${event}`, '', 'Where is my lamp?', ''];
  await deliverMail(harness.cluster, harness.project, text.join('\n'));
  await killer.reached('due', harness.project);
  mails.push({ event, at: Date.now() });
  await poll(visits);
}

/** As the next pod would, up to five minutes later. */
async function poll(visits: Visits): Promise<void> {
  visits.count += 1;
  const job = ['create', 'job', `by-hand-${visits.count}`, `--from=cronjob/${POLL}`];
  await kubectl(visits.harness.cluster, [...job, '-n', visits.harness.project]);
}

/** At most for longer than it takes until the next pod comes. */
const POLLED_WITHIN_MS = 330_000;
const POLL_EVERY_MS = 35_000;

/** Until each mail has started a run: a poll that was killed leaves it to the next one. */
async function pollMails(visits: Visits): Promise<void> {
  const { harness, mails } = visits;
  const areRead = async () => {
    const calls = await receivedCalls(harness.sinks.http);
    const events = new Set(calls.map(({ body }) => eventIn(body)));
    return mails.every(({ event }) => events.has(event));
  };
  for (const end = Date.now() + POLLED_WITHIN_MS; Date.now() < end && !(await areRead()); ) {
    await poll(visits);
    await pollUntil('a step of each mail', areRead, { timeoutMs: POLL_EVERY_MS, everyMs: 500 }).catch(
      () => undefined,
    );
  }
}
