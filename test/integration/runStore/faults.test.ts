/**
 * What can happen to the run store, with all programs around it and events coming in all the time: what
 * callers are told, that the programs stay calm, and what becomes of runs.
 */
import { appendFile, readdir, stat, statfs, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { workflowRuns } from '../../../operator/shared/resources.ts';
import { keysOf } from '../../../store/keys.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { watchProcessUsage } from '../../support/process/processUsage.ts';
import { startSender, type Sender, type SentEvent } from '../../support/system/eventSender.ts';
import { startWholeSystem, type WholeSystem } from '../../support/system/wholeSystem.ts';
import { stopwatch } from '../../support/time/stopwatch.ts';

const EVENTS_PER_SECOND = 20;
const OUTAGE_MS = 3_000;
const BACK_WITHIN_MS = 10_000;
const VOLUME_MIB = 256;

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem({ redis: { volumeMiB: VOLUME_MIB } });
}, 600_000);
afterAll(() => system?.stop());

const isAccepted = ({ status }: SentEvent) => status === 200;

const senders: Sender[] = [];
let release = (): void => undefined;
afterEach(async () => {
  release();
  await Promise.all(senders.splice(0).map((sender) => sender.stop()));
});

/** Starts to send, and waits until some events were accepted. */
async function sending(): Promise<Sender> {
  const sender = startSender(system, 'orders', EVENTS_PER_SECOND);
  senders.push(sender);
  await pollUntil('events being accepted', () => sender.events.filter(isAccepted).length >= 10, {
    timeoutMs: 40_000,
  });
  return sender;
}

function accepting(sender: Sender, since: number): Promise<unknown> {
  const isNew = (event: SentEvent) => event.at >= since && isAccepted(event);
  return pollUntil('an event being accepted again', () => sender.events.some(isNew), {
    timeoutMs: BACK_WITHIN_MS,
    everyMs: 10,
  });
}

function expectCalm(told: () => ReturnType<ReturnType<typeof watchProcessUsage>>): void {
  for (const { program, lines, cpu } of told()) {
    expect(lines, `lines a second of the ${program}`).toBeLessThan(5);
    expect(cpu, `processor time of the ${program}`).toBeLessThan(0.2);
  }
}

function expectRefused(events: readonly SentEvent[]): void {
  expect(events.length).toBeGreaterThan(0);
  for (const { status, ms, retryAfter } of events) {
    expect(status).toBe(503);
    expect(ms).toBeLessThan(2_000);
    expect(retryAfter).toBeGreaterThan(0);
  }
}

/** Waits until an outage that began then has lasted long enough to judge how calm the programs are. */
function passed(from: number): Promise<unknown> {
  const isOver = () => performance.now() - from > OUTAGE_MS;
  return pollUntil('the end of the outage', isOver, { timeoutMs: OUTAGE_MS * 2 });
}

type Outage = {
  begin: () => Promise<unknown> | void;
  end: () => Promise<unknown> | void;
  /** Some events may be accepted all the same. */
  isPartial?: boolean;
};

/**
 * An outage under load. Everybody is refused in time and the programs are calm while it lasts. Gives what was
 * accepted.
 */
async function outage({ begin, end, isPartial = false }: Outage): Promise<SentEvent[]> {
  const { operator, gateway, runner } = system;
  const sender = await sending();
  await begin();
  const from = performance.now();
  const told = watchProcessUsage({ operator, gateway, runner });
  await passed(from);
  expectCalm(told);
  const until = performance.now();
  await end();
  await accepting(sender, performance.now());
  const events = await sender.stop();
  const during = events.filter(({ at, ms }) => at > from && at + ms < until);
  expectRefused(isPartial ? during.filter((event) => !isAccepted(event)) : during);
  return events.filter(isAccepted);
}

const effectsOf = (run: string | undefined) =>
  system.effects.keys.filter((key) => key.endsWith(`/${run}/call/1`)).length;

/** Waits until each accepted event had its effect, and gives the runs of those that had it more than once. */
async function repeated(accepted: readonly SentEvent[]): Promise<(string | undefined)[]> {
  await pollUntil(
    'the effect of every accepted event',
    () => accepted.every(({ run }) => effectsOf(run) > 0),
    {
      timeoutMs: 40_000,
    },
  );
  return accepted.map(({ run }) => run).filter((run) => effectsOf(run) > 1);
}

test('killed and started again: nothing accepted is lost or done twice', async () => {
  const { redis } = system.harness;
  expect(await repeated(await outage({ begin: () => redis.kill(), end: () => redis.restart() }))).toEqual([]);
});

test('frozen: nothing accepted is lost or done twice', async () => {
  const { redis } = system.harness;
  expect(await repeated(await outage({ begin: () => redis.freeze(), end: () => redis.thaw() }))).toEqual([]);
});

test('half open, where commands arrive and answers do not: an event that is sent again with its key is the run that it became', async () => {
  const { proxy } = system;
  let asked: Promise<string> | undefined;
  const accepted = await outage({
    begin: () => {
      proxy.swallow('answers');
      asked = system.send('orders', 'unanswered').then(({ problem }) => problem ?? '');
    },
    end: () => proxy.swallow(false),
  });
  expect(await asked).toBe('run-store-unavailable');
  const again = await system.send('orders', 'unanswered');
  expect(again.status).toBe(200);
  expect(await repeated([...accepted, { ...again, key: 'unanswered', at: 0 }])).toEqual([]);
});

/** The file that the server appends to. */
async function logFile(): Promise<string> {
  const folder = join(system.harness.redis.folder, 'appendonlydir');
  const name = (await readdir(folder)).find((entry) => entry.endsWith('.incr.aof'));
  return join(folder, name ?? '');
}

test('its log torn in the middle of a record: nothing that was answered is lost', async () => {
  const { redis } = system.harness;
  const accepted = await outage({
    begin: async () => {
      await redis.kill();
      await appendFile(await logFile(), '*4\r\n$4\r\nHSET\r\n$9\r\nwl:{half');
    },
    end: () => redis.restart(),
  });
  expect(await repeated(accepted)).toEqual([]);
});

test('its log cut back to before what was answered: what is recorded of that fails as DataLost, and what was there before goes on', async () => {
  const { harness, effects, namespace } = system;
  release = effects.hold();
  const kept = await system.send('orders', 'before the cut');
  const { size } = await stat(await logFile());
  const lost = await system.send('orders', 'after the cut');
  await pollUntil(
    'both being recorded',
    async () => {
      const phases = await system.recorded();
      return [kept, lost].every(({ run = '' }) => phases.get(run) === 'Running');
    },
    { timeoutMs: 40_000 },
  );
  await harness.redis.kill();
  await truncate(await logFile(), size + 20);
  await harness.redis.restart();
  release();
  const phases = await system.allEnded(40_000);
  expect(phases.get(kept.run ?? '')).toBe('Succeeded');
  const { status } = await harness.client.get(workflowRuns, { namespace, name: lost.run ?? '' });
  expect(status).toMatchObject({ phase: 'Failed', reason: 'DataLost' });
  const later = await (await sending()).stop();
  expect(await repeated(later.filter(isAccepted))).toEqual([]);
});

/** An event whose run is recorded while its effect is under way. */
async function begunEvent(key: string): Promise<string> {
  const { run = '' } = await system.send('orders', key);
  await pollUntil('the run being recorded', async () => (await system.recorded()).get(run) === 'Running', {
    timeoutMs: 40_000,
  });
  return run;
}

test.each<[string, string, (system: WholeSystem) => Promise<unknown>]>([
  ['emptied with FLUSHALL', 'flushed', ({ harness }) => harness.redisCommand('flushall')],
  ['replaced by an empty one without our accounts', 'replaced', ({ harness }) => harness.redis.replace()],
])(
  '%s: open again within seconds, what was recorded ends, and a repeated event is the recorded run',
  async (_what, key, wipe) => {
    const { operator, gateway, runner, effects } = system;
    release = effects.hold();
    const run = await begunEvent(key);
    const sender = await sending();
    const told = watchProcessUsage({ operator, gateway, runner });
    await wipe(system);
    const wiped = performance.now();
    const took = stopwatch();
    await accepting(sender, wiped);
    const back = performance.now();
    expect(took()).toBeLessThan(5_000);
    await passed(wiped);
    expectCalm(told);
    const events = await sender.stop();
    expectRefused(events.filter((event) => !isAccepted(event)));
    expect(await system.send('orders', key)).toMatchObject({ status: 200, run });
    release();
    const phases = await system.allEnded(40_000);
    expect(phases.get(run)).toBe('Succeeded');
    const later = events.filter((event) => isAccepted(event) && event.at >= back);
    expect(await repeated(later)).toEqual([]);
  },
);

test('all of its keys of a wrong type: refused, and mended as the documentation says', async () => {
  const { harness, uid } = system;
  const { prefix, ...project } = keysOf(uid);
  const fixed = Object.values(project).filter((key) => typeof key === 'string');
  const found = async () => (await harness.redisCommand('keys', `${prefix}*`)).filter((key) => key !== '');
  await outage({
    begin: async () => {
      const names = [...new Set([...fixed, ...(await found())])];
      await harness.redisCommand('mset', ...names.flatMap((name) => [name, 'of somebody else']));
    },
    end: async () => harness.redisCommand('unlink', ...(await found())),
  });
  const said = [system.gateway, system.runner].map(({ log }) =>
    log.filter((line) => line.includes('of a wrong type')),
  );
  for (const lines of said) expect(lines.length).toBeGreaterThan(0);
  await system.allEnded(40_000);
});

const LARGE = { text: 'x'.repeat(300_000) };

/** Sends large events until one is refused; gives what was accepted, and the refusal. */
async function fill(prefix: string) {
  const accepted: SentEvent[] = [];
  for (let count = 0; count < 200; count += 1) {
    const answer = await system.send('orders', `${prefix}-${count}`, LARGE);
    if (answer.status !== 200) return { accepted, refusal: answer };
    accepted.push({ ...answer, key: `${prefix}-${count}`, at: 0 });
  }
  throw new Error('everything was accepted');
}

test('its memory full, and fuller than full: refused, what runs ends and is recorded, and that makes room', async () => {
  const { harness, effects, operator, gateway, runner } = system;
  release = effects.hold();
  const used = (await harness.redisCommand('info', 'memory')).find((line) => line.startsWith('used_memory:'));
  const limit = Number(used?.split(':')[1]) + 4 * 1024 * 1024;
  await harness.redisCommand('config', 'set', 'maxmemory', String(limit));
  const { accepted, refusal } = await fill('memory');
  expect(refusal).toMatchObject({ status: 503, problem: 'run-store-full' });
  expect(refusal.retryAfter).toBeGreaterThan(0);
  expect(accepted.length).toBeGreaterThan(0);
  await harness.redisCommand('config', 'set', 'maxmemory', '1mb');
  const told = watchProcessUsage({ operator, gateway, runner });
  const sender = startSender(system, 'orders', EVENTS_PER_SECOND);
  senders.push(sender);
  await passed(performance.now());
  expectCalm(told);
  expectRefused(await sender.stop());
  release();
  expect(await repeated(accepted)).toEqual([]);
  const areRecorded = async () => {
    const phases = await system.recorded();
    return accepted.every(({ run = '' }) => phases.get(run) === 'Succeeded');
  };
  await pollUntil('the records of what was accepted', areRecorded, { timeoutMs: 40_000 });
  expect(await system.send('orders', 'small')).toMatchObject({ status: 503, problem: 'run-store-full' });
  await harness.redisCommand('config', 'set', 'maxmemory', String(limit));
  await pollUntil('room', async () => (await system.send('orders', 'small')).status === 200, {
    timeoutMs: 40_000,
  });
  await harness.redisCommand('config', 'set', 'maxmemory', '0');
});

/** What is on the volume: the log may consist of several files. */
async function usedMiB(): Promise<number> {
  const { blocks, bfree, bsize } = await statfs(system.harness.redis.folder);
  return Math.ceil(((blocks - bfree) * bsize) / 2 ** 20);
}

/** Takes what is left of the volume, to the last page. */
async function takeTheRest(): Promise<void> {
  const file = join(system.harness.redis.folder, 'of somebody else');
  for (const bytes of [2 ** 20, 4_096]) {
    const isTaken = () => appendFile(file, Buffer.alloc(bytes)).then(() => true);
    while (await isTaken().catch(() => false));
  }
}

test('its disk full: refused as long as it cannot write, and nothing accepted is lost', async () => {
  const { redis } = system.harness;
  const stopSupervising = redis.supervise();
  const large: SentEvent[] = [];
  let [isOver, filled] = [false, Promise.resolve(true)];
  const accepted = await outage({
    begin: async () => {
      await redis.resizeVolume((await usedMiB()) + 4);
      const isFilled = async () => large.push(...(await fill(`disk-${large.length}`)).accepted) > 0;
      await pollUntil('large events being accepted until it is full', isFilled, { timeoutMs: 20_000 });
      await takeTheRest();
      // What the server had written of a record that did not fit it releases, when it comes to that.
      const fillAgain = () => takeTheRest().then(() => isOver);
      filled = pollUntil('the end of the outage', fillAgain, { timeoutMs: 60_000, everyMs: 50 });
    },
    end: async () => {
      isOver = true;
      await filled;
      await redis.resizeVolume(VOLUME_MIB);
    },
    // Where a large record does not fit, small ones may, in the last page.
    isPartial: true,
  });
  await stopSupervising();
  expect(large.length).toBeGreaterThan(0);
  expect(await repeated([...large, ...accepted])).toEqual([]);
});
