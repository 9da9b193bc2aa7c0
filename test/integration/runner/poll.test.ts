/** A poll pod in this process, with a real run store, and a real mail server behind the poller of mail. */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { loadPoller } from '../../../nodes/pollers.ts';
import { PollError, type Polled, type Poller } from '../../../nodes/contract/poller.ts';
import { Secret } from '../../../nodes/contract/secret.ts';
import { pollAccount, type PollDeps, type ProjectAccess } from '../../../runner/poll/pollAccount.ts';
import { runPollPod, type PodOptions } from '../../../runner/pollPod/pod.ts';
import { createRunnerPolls } from '../../../runner/poll/runnerPolls.ts';
import { createPollingPace } from '../../../runs/pace.ts';
import { connectRunStore, isUnavailable } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import { readPoll, type PollState } from '../../../store/polling/state.ts';
import { dropTrigger, putTrigger, type PolledTrigger } from '../../../store/polling/triggers.ts';
import { readRun } from '../../../runs/read.ts';
import { submit } from '../../../runs/submit.ts';
import { createCollectedLog } from '../../support/logs/collectedLog.ts';
import { IMAP_PASSWORD, startDovecot, type Dovecot } from '../../support/providers/mail/dovecot.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { startRedisProxy } from '../../support/runStore/redisProxy.ts';
import { newProject, startRunStore, type TestStore } from '../../support/runStore/runStore.ts';
import { localEgress } from '../../support/nodes/stepContext.ts';
import { stopwatch } from '../../support/time/stopwatch.ts';

let store: TestStore;
let mail: Dovecot;
let project: string;
let users = 0;

beforeAll(async () => {
  [store, mail] = await Promise.all([startRunStore({ appendfsync: 'no' }), startDovecot({ oneFile: true })]);
}, 600_000);
afterAll(() => Promise.all([store?.stop(), mail?.close()]));
beforeEach(async () => void (project = await newProject(store.conn)));

function put(uid: string, changes: Partial<PolledTrigger> = {}): Promise<unknown> {
  return putTrigger(store.conn, project, {
    workflow: uid,
    workflowUid: uid,
    revision: `${uid}-1`,
    kind: 'mail',
    fields: { credential: 'inbox' },
    // Due again at once.
    intervalSeconds: 0,
    place: 'inbox',
    ...changes,
  });
}

/** The account of a user of the mail server, whom the project's credential names. */
function meansOf(user: string, password = IMAP_PASSWORD): () => Promise<ProjectAccess> {
  const imap = { host: '127.0.0.1', port: mail.port, tls: 'None', username: user } as const;
  const spec = { imap: { ...imap, passwordRef: { name: 'accounts', key: 'password' } } };
  const credential = async (name: string) => ({ name, spec, secret: () => new Secret(password) });
  return async () => ({ egress: localEgress, credential });
}

function newUser(): string {
  users += 1;
  return `user${users}`;
}

const optionsOf = (changes: Partial<PodOptions> = {}): PodOptions => ({
  conn: store.conn,
  project,
  pod: 'pod-1',
  poller: loadPoller,
  access: meansOf('nobody'),
  log: createCollectedLog(),
  forMs: 20_000,
  ...changes,
});
const depsOf = (changes: Partial<PollDeps>): PollDeps => ({
  ...optionsOf(),
  leave: new AbortController().signal,
  ...changes,
});

async function runsOf(uid: string): Promise<string[]> {
  return (await store.conn.command('zrange', keysOf(project).runs(uid), 0, -1)) as string[];
}

/** The subjects of the mails that started runs, in the order in which the runs were accepted. */
async function subjectsOf(uid: string): Promise<string[]> {
  const names = await runsOf(uid);
  const found = await Promise.all(names.map((name) => readRun(store.conn, project, name)));
  return found.map((run) => {
    if (!run || isUnavailable(run)) throw new Error('a run cannot be read');
    return (JSON.parse(run.input) as { data_content: { subject: string } }).data_content.subject;
  });
}

async function stateOf(uid: string): Promise<PollState> {
  const state = await readPoll(store.conn, project, uid);
  if (!state || isUnavailable(state)) throw new Error('the trigger cannot be read');
  return state;
}

/** Pods that are killed after so many steps: calls of the run store. */
async function startMortalPods() {
  let left = 0;
  let killed = new AbortController();
  const proxy = await startRedisProxy(store.redis.port, ([name = '']) => {
    if (!name.startsWith('eval')) return true;
    left -= 1;
    if (left < 0) killed.abort();
    return left >= 0;
  });
  return {
    pollFor: async (steps: number, changes: Partial<PollDeps>): Promise<void> => {
      killed = new AbortController();
      left = steps;
      const conn = connectRunStore({ url: proxy.url, name: 'killed' });
      await conn.ready();
      await pollAccount(depsOf({ ...changes, conn, leave: killed.signal }), 'orders');
      await conn.close();
    },
    stop: () => proxy.stop(),
  };
}

test('the first poll starts no run, and a burst of 1,000 mails is submitted by pages, oldest first, although pods are killed in between', async () => {
  const user = newUser();
  mail.fill(user, 1_000);
  const access = meansOf(user);
  await put('orders');
  await pollUntilTrue(depsOf({ access }), async () => (await stateOf('orders')).cursor !== undefined);
  expect(await runsOf('orders')).toEqual([]);
  // As if somebody asked for what came since then.
  const reset = { value: '2025-01-01T00:00:00Z', since: '2025-01-01T00:00:00Z' };
  await put('orders', { reset });
  const pods = await startMortalPods();
  // In the first page, once in its middle and once before the cursor moves, and in the third.
  for (const steps of [50, 102, 250]) await pods.pollFor(steps, { access });
  await pods.stop();
  const killed = (await runsOf('orders')).length;
  expect(killed).toBeGreaterThan(100);
  expect(killed).toBeLessThan(1_000);
  const log = createCollectedLog();
  await pollUntilTrue(depsOf({ access, log }), async () => (await runsOf('orders')).length >= 1_000);
  expect(await subjectsOf('orders')).toEqual(Array.from({ length: 1_000 }, (_, n) => `mail ${n + 1}`));
  expect(log.messages('info').length).toBeGreaterThanOrEqual(7);
  await pollAccount(depsOf({ access }), 'orders');
  expect(await runsOf('orders')).toHaveLength(1_000);
});

test('a refused login is reported with its reason, delays the next poll, and is cleared when the login works again', async () => {
  const access = meansOf('stranger', 'wrong');
  await put('orders', { intervalSeconds: 5 });
  await pollUntilTrue(depsOf({ access }), async () => (await stateOf('orders')).failure !== undefined);
  expect((await stateOf('orders')).failure).toMatchObject({ reason: 'Rejected', inARow: 1 });
  expect(await pollAccount(depsOf({ access }), 'orders')).toMatchObject({ outcome: 'again', failing: true });
  expect((await stateOf('orders')).failure).toMatchObject({ inARow: 1 });
  await put('orders');
  const mended = depsOf({ access: meansOf(newUser()) });
  await pollUntilTrue(mended, async () => (await stateOf('orders')).failure === undefined);
  expect(await stateOf('orders')).toHaveProperty('cursor');
});

test('a time for which the provider asks is waited, however short the interval is', async () => {
  await put('orders', { fields: { account: 'orders' } });
  const { poller } = pollerOf(async () => {
    throw new PollError('RateLimited', 'Too many requests.', { retryAfterSeconds: 600 });
  });
  await pollAccount(depsOf({ poller }), 'orders');
  const { dueAt, now, failure } = await stateOf('orders');
  expect(failure).toMatchObject({ reason: 'RateLimited' });
  expect(dueAt - now).toBeGreaterThan(590_000);
});

/** Polls again and again until that is true: a call of the run store may fail where the machine is busy. */
async function pollUntilTrue(deps: PollDeps, is: () => Promise<boolean>): Promise<void> {
  await pollUntil(
    'what the poll is to bring',
    async () => {
      await pollAccount(deps, 'orders');
      return is();
    },
    { timeoutMs: 50_000, everyMs: 10 },
  );
}

/** A poller that tests tell what to do; it counts its polls by the account. */
function pollerOf(poll: (account: string, signal: AbortSignal, cursor: unknown) => Promise<Polled>) {
  const polls = new Map<string, number[]>();
  const poller: Poller<{ account: string }> = {
    poll: async ({ account }, cursor, { signal }) => {
      polls.set(account, [...(polls.get(account) ?? []), performance.now()]);
      return poll(account, signal, cursor);
    },
  };
  return { poller: async () => poller as Poller<unknown>, polls };
}
const nothingNew: Polled = { events: [], cursor: 1, more: false };
const eventOf = (n: number) => ({
  key: String(n),
  output: { text_content: '', data_content: { subject: `mail-${n}` } },
});
const never = () => new Promise<never>(() => {});

test('30 polls that are killed at each of their steps and see 600 events start 600 runs, in order and none twice', async () => {
  await put('orders', { fields: { account: 'orders' } });
  let arrived = 0;
  const { poller } = pollerOf(async (_account, _signal, cursor = 0) => {
    const numbers = Array.from({ length: arrived }, (_, n) => n).slice(
      cursor as number,
      (cursor as number) + 8,
    );
    const next = (cursor as number) + numbers.length;
    return { events: numbers.map(eventOf), cursor: next, more: next < arrived };
  });
  const pods = await startMortalPods();
  for (let poll = 0; poll < 30; poll += 1) {
    arrived += 20;
    await pods.pollFor(poll, { poller });
    // The container starts again, in the same pod.
    if (poll % 3 === 0) await pollAccount(depsOf({ poller }), 'orders');
  }
  await pollUntilTrue(depsOf({ poller }), async () => (await runsOf('orders')).length >= 600);
  expect(await subjectsOf('orders')).toEqual(Array.from({ length: 600 }, (_, n) => `mail-${n}`));
  await pods.stop();
});

test('accounts that hang delay no others, however many there are, and at its end the pod aborts their polls', async () => {
  const hanging = Array.from({ length: 7 }, (_, n) => `bad-${n}`);
  const good = Array.from({ length: 20 }, (_, n) => `good-${n}`);
  for (const uid of [...hanging, ...good])
    await put(uid, { intervalSeconds: 1, fields: { account: uid }, place: uid });
  const { poller, polls } = pollerOf((account) =>
    account.startsWith('bad') ? never() : Promise.resolve(nothingNew),
  );
  expect(await runPollPod(optionsOf({ poller, forMs: 5_000 }))).toBe(true);
  for (const uid of good) {
    const times = polls.get(uid) ?? [];
    expect(times.length).toBeGreaterThanOrEqual(2);
  }
  // Nobody is blamed for the end of the pod, and the next one begins with them.
  for (const uid of hanging) expect(await stateOf(uid)).not.toHaveProperty('failure');
});

test('a page ends with what it has after a part of its time, and one that is not there at its deadline is a failure', async () => {
  await put('orders', { fields: { account: 'orders' } });
  const untilEnough: Poller<unknown> = {
    poll: async (_trigger, _cursor, { enough }) => {
      await once(enough, 'abort');
      return { ...nothingNew, events: [eventOf(1)] };
    },
  };
  await pollAccount(depsOf({ poller: async () => untilEnough, pageMs: 3_000 }), 'orders');
  expect(await subjectsOf('orders')).toEqual(['mail-1']);
  await put('slow', { fields: { account: 'slow' } });
  await pollAccount(depsOf({ poller: pollerOf(never).poller, pageMs: 100 }), 'slow');
  expect((await stateOf('slow')).failure).toMatchObject({ reason: 'Timeout' });
});

test('accounts that failed have places of their own', async () => {
  const bad = Array.from({ length: 12 }, (_, n) => `bad-${n}`);
  for (const uid of [...bad, 'good'])
    await put(uid, { intervalSeconds: 0.5, fields: { account: uid }, place: uid });
  const seen = new Set<string>();
  const { poller, polls } = pollerOf(async (account) => {
    if (account === 'good') return nothingNew;
    if (seen.has(account)) return never();
    seen.add(account);
    throw new PollError('Unreachable', 'There is nobody.');
  });
  await runPollPod(optionsOf({ poller, forMs: 4_000 }));
  expect(polls.get('good')?.length).toBeGreaterThanOrEqual(3);
});

test('accounts that failed before the pod came have places of their own, too', async () => {
  const bad = Array.from({ length: 12 }, (_, n) => `bad-${n}`);
  let isBroken = true;
  const { poller, polls } = pollerOf(async (account) => {
    if (account === 'good') return nothingNew;
    if (!isBroken) return never();
    throw new PollError('Unreachable', 'There is nobody.');
  });
  for (const uid of bad) await put(uid, { fields: { account: uid } });
  await put('good', { intervalSeconds: 1, fields: { account: 'good' } });
  // So that it is not due before the others have taken their places.
  for (const uid of [...bad, 'good']) await pollAccount(depsOf({ poller }), uid);
  isBroken = false;
  await runPollPod(optionsOf({ poller, forMs: 4_000 }));
  expect(polls.get('good')?.length).toBeGreaterThanOrEqual(2);
});

test('accounts with a burst are polled alternately, with due accounts between them', async () => {
  const bursts = Array.from({ length: 9 }, (_, n) => `burst-${n}`);
  const { poller, polls } = pollerOf(async (account) => {
    if (account === 'quiet') return nothingNew;
    await delay(50);
    return { events: [], cursor: 1, more: true };
  });
  for (const uid of bursts) await put(uid, { fields: { account: uid } });
  await put('quiet', { intervalSeconds: 1, fields: { account: 'quiet' } });
  await pollAccount(depsOf({ poller }), 'quiet');
  await runPollPod(optionsOf({ poller, forMs: 4_000, burstMs: 200 }));
  expect(polls.get('quiet')?.length).toBeGreaterThanOrEqual(2);
  for (const uid of bursts) expect(polls.get(uid)?.length).toBeGreaterThanOrEqual(2);
});

test('an event whose dedupe key belongs to another run starts no run, is reported, and delays no others', async () => {
  await put('orders', { fields: { account: 'orders' } });
  const names = { workflow: 'orders', workflowUid: 'orders', revision: 'orders-1' };
  const event = {
    trigger: 'mail',
    dedupeKey: 'mail/1',
    bodyHash: 'of another body',
    input: '{}',
    test: false,
  };
  await submit(store.conn, { project, ...names, ...event });
  const { poller } = pollerOf(async () => ({ events: [eventOf(1), eventOf(2)], cursor: 2, more: false }));
  const log = createCollectedLog();
  await pollAccount(depsOf({ poller, log }), 'orders');
  expect(await runsOf('orders')).toHaveLength(2);
  expect(log.messages('warn')).toEqual(['event key belongs to another run']);
  expect((await stateOf('orders')).cursor).toBe('{"place":"inbox","cursor":2}');
});

test('an event that the account shows otherwise the second time is the same one', async () => {
  await put('orders', { fields: { account: 'orders' } });
  for (const text_content of ['unread', 'read']) {
    const event = { key: '1', output: { text_content, data_content: {} } };
    const { poller } = pollerOf(async () => ({ events: [event], cursor: 2, more: false }));
    await pollAccount(depsOf({ poller }), 'orders');
  }
  const [run = '', ...others] = await runsOf('orders');
  expect(others).toEqual([]);
  const kept = await readRun(store.conn, project, run);
  expect(kept && !isUnavailable(kept) && kept.input).toContain('"unread"');
});

test('a pod ends at once when nothing becomes due in its time, and polls no account that another pod polls', async () => {
  await put('orders', { intervalSeconds: 3_600, fields: { account: 'orders' } });
  const { poller, polls } = pollerOf(async () => nothingNew);
  await Promise.all(
    ['pod-1', 'pod-2', 'pod-3'].map((pod) => runPollPod(optionsOf({ pod, poller, forMs: 9_000 }))),
  );
  expect(polls.get('orders')).toHaveLength(1);
  await runPollPod(optionsOf({ poller }));
  expect(polls.get('orders')).toHaveLength(1);
});

test('a poll that lost its claim starts no more runs', async () => {
  await put('orders', { fields: { account: 'orders' } });
  const { poller } = pollerOf(async () => {
    await dropTrigger(store.conn, project, 'orders');
    return { events: [{ key: '1', output: { text_content: '', data_content: {} } }], cursor: 2, more: false };
  });
  await pollAccount(depsOf({ poller }), 'orders');
  expect(await runsOf('orders')).toEqual([]);
  expect(await store.conn.command('exists', keysOf(project).poll('orders'))).toBe(0);
});

test('the pod waits while the run store is unavailable, and continues when it is available again', async () => {
  await put('orders', { intervalSeconds: 3_600, fields: { account: 'orders' } });
  const { poller } = pollerOf(async () => {
    await store.redis.kill();
    void pollUntil('the loss being noticed', async () => !store.conn.healthy(), { timeoutMs: 10_000 }).then(
      () => store.redis.restart(),
    );
    return { events: [{ key: '1', output: { text_content: '', data_content: {} } }], cursor: 2, more: false };
  });
  const log = createCollectedLog();
  await runPollPod(optionsOf({ poller, log }));
  expect(log.messages('warn')).toContain('run store unavailable, retrying');
  await store.conn.ready();
  expect(await runsOf('orders')).toHaveLength(1);
  expect((await stateOf('orders')).cursor).toBe('{"place":"inbox","cursor":2}');
});

test('a cursor that has become void is reported, and a defect is reported without details', async () => {
  await put('orders', { fields: { account: 'orders' } });
  const lost = pollerOf(async () => ({ ...nothingNew, baselineLost: 'UIDVALIDITY changed' }));
  await pollAccount(depsOf({ poller: lost.poller }), 'orders');
  expect(await stateOf('orders')).toMatchObject({ lost: 'UIDVALIDITY changed' });
  const broken = pollerOf(async () => {
    throw new TypeError('cannot read secret of undefined');
  });
  const log = createCollectedLog();
  await pollAccount(depsOf({ poller: broken.poller, log }), 'orders');
  const { failure } = await stateOf('orders');
  expect(failure?.reason).toBe('Internal');
  expect(failure?.message).not.toContain('undefined');
  expect(log.messages('error')).toEqual(['poll failed unexpectedly']);
});

/** A runner that polls, until `stop`. */
function startRunnerPolls(runner: string, poller: PollDeps['poller'], credentials = noCredentials) {
  const stopping = new AbortController();
  const options = { conn: store.conn, project, runner, poller, credentials, egress: localEgress };
  const polls = createRunnerPolls({ ...options, pace: createPollingPace(), log: createCollectedLog() });
  const ended = polls.run(stopping.signal);
  return {
    stop: async () => {
      stopping.abort();
      await ended;
    },
  };
}
const credentialNamed = (name: string) => ({ name, spec: {}, secret: () => new Secret('x') });
const noCredentials = {
  get: async (name: string) => credentialNamed(name),
  fresh: async (name: string) => credentialNamed(name),
};
/** A poller of one account that brings the next event with each poll, and where each poll was made. */
function countingPoller() {
  const polledBy: string[] = [];
  const of = (who: string) => async (): Promise<Poller<unknown>> => ({
    poll: async (_trigger, cursor = 0) => {
      polledBy.push(who);
      return { events: [eventOf(cursor as number)], cursor: (cursor as number) + 1, more: false };
    },
  });
  return { of, polledBy };
}
const SOON = { timeoutMs: 20_000, everyMs: 20 };

test('of two runners one polls, the other one goes on when it ends, and so does a poll pod: each event is one run', async () => {
  await put('orders', { intervalSeconds: 0.2 });
  const { of, polledBy } = countingPoller();
  const first = startRunnerPolls('runner-1', of('runner-1'));
  await pollUntil('polls', async () => polledBy.length >= 3, SOON);
  const second = startRunnerPolls('runner-2', of('runner-2'));
  await pollUntil('more polls', async () => polledBy.length >= 8, SOON);
  expect(new Set(polledBy)).toEqual(new Set(['runner-1']));
  const pod = runPollPod(optionsOf({ poller: of('pod'), forMs: 3_000 }));
  await first.stop();
  await pod;
  const took = stopwatch();
  await pollUntil('the other runner', async () => polledBy.includes('runner-2'), SOON);
  // The lease would have lasted for longer.
  expect(took()).toBeLessThan(9_000);
  await second.stop();
  const subjects = await subjectsOf('orders');
  expect(subjects).toEqual(Array.from(subjects, (_, n) => `mail-${n}`));
  // Each event before the cursor is a run. A poll that is stopped in its middle moves no cursor.
  expect(JSON.parse((await stateOf('orders')).cursor ?? '')).toMatchObject({ cursor: subjects.length });
  expect(polledBy.length - subjects.length).toBeLessThanOrEqual(3);
});

test('a runner polls a trigger that is added or changed at once, however long its interval is', async () => {
  const { poller, polls } = pollerOf(async () => nothingNew);
  const runner = startRunnerPolls('runner-1', poller);
  await put('orders', { intervalSeconds: 86_400, fields: { account: 'orders' } });
  await pollUntil('the first poll', async () => polls.get('orders')?.length === 1, SOON);
  await put('orders', { intervalSeconds: 86_400, fields: { account: 'other' } });
  await pollUntil('a poll of the other account', async () => polls.get('other')?.length === 1, SOON);
  await dropTrigger(store.conn, project, 'orders');
  await runner.stop();
  expect(polls.get('orders')).toHaveLength(1);
});

test('after a failed poll a runner reads the Secrets of its account again, and those of no other', async () => {
  const read: string[] = [];
  const credentials = {
    get: noCredentials.get,
    fresh: async (name: string) => {
      read.push(name);
      return credentialNamed(name);
    },
  };
  const failing: Poller<{ credential: string }> = {
    poll: async ({ credential }, _cursor, context) => {
      await context.credential(credential);
      if (credential === 'good' || read.length > 0) return nothingNew;
      throw new PollError('Rejected', 'The server refuses the password.');
    },
  };
  await put('good', { intervalSeconds: 0.1, fields: { credential: 'good' } });
  await put('bad', { intervalSeconds: 0.1, fields: { credential: 'bad' }, place: 'bad' });
  const runner = startRunnerPolls('runner-1', async () => failing, credentials);
  await pollUntil('a poll that works', async () => (await stateOf('bad')).polledAt !== undefined, SOON);
  await runner.stop();
  expect(read).toEqual(['bad']);
});

test('a damaged key of one account does not end the polls of others', async () => {
  await put('orders', { intervalSeconds: 0.2, fields: { account: 'orders' } });
  await put('damaged', { fields: { account: 'damaged' } });
  await store.conn.command('del', keysOf(project).poll('damaged'));
  await store.conn.command('set', keysOf(project).poll('damaged'), 'x');
  const { poller, polls } = pollerOf(async () => nothingNew);
  const runner = startRunnerPolls('runner-1', poller);
  await pollUntil('polls', async () => (polls.get('orders')?.length ?? 0) >= 3, SOON);
  await runner.stop();
  expect(polls.has('damaged')).toBe(false);
});
