/**
 * A run store with a replica and sentinels, with all programs around it and events coming in all the time: a
 * replica that does not confirm, and a primary that is killed.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { TestRedis } from '../../support/runStore/redis.ts';
import type { ReplicatedRedis } from '../../support/runStore/sentinel.ts';
import { watchProcessUsage } from '../../support/process/processUsage.ts';
import { startSender, type Sender, type SentEvent } from '../../support/system/eventSender.ts';
import { startWholeSystem, type WholeSystem } from '../../support/system/wholeSystem.ts';
import { pollUntil } from '../../support/time/poll.ts';

const EVENTS_PER_SECOND = 20;
const OUTAGE_MS = 3_000;
/** The limit, from the moment at which enough replicas can confirm. */
const BACK_WITHIN_MS = 10_000;
const SOON = { timeoutMs: 40_000 };

let system: WholeSystem;
let redis: ReplicatedRedis;
beforeAll(async () => {
  system = await startWholeSystem({ replicas: 1 });
  redis = system.replicated as ReplicatedRedis;
}, 600_000);
afterAll(() => system?.stop());

const senders: Sender[] = [];
afterEach(async () => {
  await Promise.all(senders.splice(0).map((sender) => sender.stop()));
});

const isAccepted = ({ status }: SentEvent) => status === 200;

async function sending(): Promise<Sender> {
  const sender = startSender(system, 'orders', EVENTS_PER_SECOND);
  senders.push(sender);
  await pollUntil('events being accepted', () => sender.events.filter(isAccepted).length >= 10, SOON);
  return sender;
}

function accepting(sender: Sender, since: number): Promise<unknown> {
  const isNew = (event: SentEvent) => event.at >= since && isAccepted(event);
  return pollUntil('an event being accepted again', () => sender.events.some(isNew), {
    timeoutMs: BACK_WITHIN_MS,
    everyMs: 10,
  });
}

const effectsOf = (run: string | undefined) =>
  system.effects.keys.filter((key) => key.endsWith(`/${run}/call/1`)).length;

/**
 * Waits until each accepted event had its effect and its run is recorded as succeeded. Gives the runs of
 * those that had it more than once.
 */
async function repeated(accepted: readonly SentEvent[]): Promise<(string | undefined)[]> {
  const isDone = async () => {
    const phases = await system.recorded();
    return accepted.every(({ run = '' }) => effectsOf(run) > 0 && phases.get(run) === 'Succeeded');
  };
  await pollUntil('the effect and the record of every accepted event', isDone, SOON);
  return accepted.map(({ run }) => run).filter((run) => effectsOf(run) > 1);
}

async function follower(): Promise<TestRedis> {
  const primary = await redis.primary();
  return redis.servers.find((server) => server !== primary) as TestRedis;
}

test('a replica that does not confirm: 503 in time, calm programs, and nothing accepted is lost or done twice', async () => {
  const { operator, gateway, runner } = system;
  const sender = await sending();
  const replica = await follower();
  replica.freeze();
  const from = performance.now();
  const told = watchProcessUsage({ operator, gateway, runner });
  await pollUntil('the end of the outage', () => performance.now() - from > OUTAGE_MS, SOON);
  const calm = told();
  const until = performance.now();
  replica.thaw();
  await accepting(sender, until);
  const events = await sender.stop();

  const during = events.filter(({ at, ms }) => at > from && at + ms < until);
  expect(during.length).toBeGreaterThan(0);
  expect(during.filter(({ status, retryAfter }) => status !== 503 || !retryAfter)).toEqual([]);
  expect(during.filter(({ ms }) => ms >= 2_000)).toEqual([]);
  for (const { program, lines, cpu } of calm) {
    expect(lines, `lines a second of the ${program}`).toBeLessThan(5);
    expect(cpu, `processor time of the ${program}`).toBeLessThan(0.2);
  }
  expect(await repeated(events.filter(isAccepted))).toEqual([]);
});

test('an event that no replica confirmed is, sent again with its key, the run that it became', async () => {
  const sender = await sending();
  const replica = await follower();
  replica.freeze();
  expect(await system.send('orders', 'unconfirmed')).toMatchObject({
    status: 503,
    problem: 'run-store-unavailable',
  });
  replica.thaw();
  await accepting(sender, performance.now());
  const again = await system.send('orders', 'unconfirmed');
  expect(again.status).toBe(200);
  expect(await repeated([{ ...again, key: 'unconfirmed', at: 0 }])).toEqual([]);
});

test('the primary killed: accepted again once a replica confirms, and nothing accepted is lost or done twice', async () => {
  const sender = await sending();
  const [primary, replica] = [await redis.primary(), await follower()];
  await primary.kill();
  await pollUntil('a failover', async () => (await redis.primary()) === replica, SOON);
  await primary.restart();
  await redis.synced(1);
  await accepting(sender, performance.now());
  expect(await repeated((await sender.stop()).filter(isAccepted))).toEqual([]);
});
