/** Accounts: who reaches what in the run store, and that accounts outlive the server. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  dropPoolAccount,
  ensurePoolAccount,
  ensureAclUsers,
  GATEWAY_ACCOUNT,
  OPERATOR_ACCOUNT,
  poolAccount,
} from '../../../store/accounts.ts';
import { hasPoolAccount } from '../../support/runStore/calls.ts';
import { advance } from '../../../runs/advance.ts';
import { removeHeartbeat, sendPulse } from '../../../runs/pulse.ts';
import { cancelRun } from '../../../runs/cancel.ts';
import { connectRunStore, type RunStoreConnection } from '../../../store/connection.ts';
import { appendEvents, followEvents } from '../../../runs/events.ts';
import { keysOf } from '../../../store/keys.ts';
import { closeProject, openProject } from '../../../runs/project.ts';
import { getRevision, putRevision } from '../../../runs/revisions.ts';
import { setWorkflowLimits } from '../../../runs/limits.ts';
import { readCounts } from '../../../runs/read.ts';
import { recorded } from '../../../runs/record/recorded.ts';
import { lease, spend } from '../../../runs/record/recordQueue.ts';
import { createReplyWaiter } from '../../../runs/reply.ts';
import { submit } from '../../../runs/submit.ts';
import { createTakeover } from '../../../runs/takeover.ts';
import { aclFile } from '../../support/runStore/aclFile.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { startRedis, type TestRedis } from '../../support/runStore/redis.ts';
import { claimedOne, stateOf, submissionOf, succeededNode } from '../../support/runStore/runStore.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const passwords = { operatorSha256: sha256('operator'), gatewaySha256: sha256('gateway') };
const noPermission = /NOPERM|No permissions|can't access|can't run/;

let redis: TestRedis;
const connections: RunStoreConnection[] = [];

async function connectAs(username: string, password: string, withinMs = 5_000): Promise<RunStoreConnection> {
  const conn = connectRunStore({ url: redis.url, username, password, name: username });
  connections.push(conn);
  await conn.ready(AbortSignal.timeout(withinMs));
  return conn;
}

let operator: RunStoreConnection;
let gateway: RunStoreConnection;
let mine: RunStoreConnection;
beforeAll(async () => {
  redis = await startRedis({ acl: aclFile(passwords) });
  operator = await connectAs(OPERATOR_ACCOUNT, 'operator');
  gateway = await connectAs(GATEWAY_ACCOUNT, 'gateway');
  for (const project of ['mine', 'theirs']) {
    await openProject(operator, project);
    await ensurePoolAccount(operator, project, sha256(`${project}-password`));
  }
  mine = await connectAs(poolAccount('mine'), 'mine-password');
});
afterAll(async () => {
  await Promise.all(connections.map((conn) => conn.close()));
  await redis.stop();
});

const revision = {
  trigger: { id: 'trigger', kind: 'manual', testData: { text_content: '', data_content: {} } },
  steps: [],
  edges: [],
  timeoutMs: 1,
} as const;

test('a runner pool can do with its project all that running takes', async () => {
  await putRevision(operator, 'mine', 'orders-1', { ...revision, steps: [], edges: [] });
  await setWorkflowLimits(operator, 'mine', {
    workflowUid: 'uid-orders',
    policy: 'Replace',
    concurrency: 1,
    deadlineMs: 1,
  });
  expect(await submit(gateway, submissionOf('mine', { dedupeKey: 'k' }))).toMatchObject({
    outcome: 'accepted',
  });
  expect(await getRevision(mine, 'mine', 'orders-1')).toEqual(revision);
  await sendPulse(mine, 'mine', 'runner-1');
  const ref = await claimedOne(mine, 'mine');
  await appendEvents(mine, ref, [{ type: 'text', node: 'a', text: 'x' }]);
  const reply = { status: 200, headers: {}, body: '', contentType: 'text/plain' };
  await advance(mine, ref, { checkpoints: [succeededNode('a')], reply });
  const wait = createReplyWaiter(gateway).wait('mine', ref.run, {
    timeoutMs: 20_000,
    signal: new AbortController().signal,
  });
  expect(await wait).toEqual({ kind: 'reply', reply });
  expect(await cancelRun(gateway, 'mine', ref.run)).toEqual({ outcome: 'requested' });
  await advance(mine, ref, { end: { phase: 'Cancelled' } });
  for await (const event of followEvents(gateway, 'mine', ref.run, { signal: AbortSignal.timeout(5_000) }))
    expect(event.id).toMatch(/^\d+$/);
  expect(await lease(mine, 'mine', 10)).toMatchObject({ runs: [ref.run] });
  expect(await spend(mine, 'mine', [2])).toBe(1);
  expect(await recorded(mine, await stateOf(mine, 'mine', ref.run), 'written')).toBe('recorded');
  expect(await readCounts(mine, 'mine', 'uid-orders')).toMatchObject({ cancelled: 1, active: 0 });
  const stop = AbortSignal.timeout(100);
  await createTakeover({ conn: mine, project: 'mine', runner: 'r', everyMs: 10, deadAfterMs: 20 }).run(stop);
  await removeHeartbeat(mine, 'mine', 'runner-1');
});

test('of another project it reaches nothing: no key, no channel, also not from a script', async () => {
  const theirs = keysOf('theirs');
  await submit(gateway, submissionOf('theirs'));
  expect(await submit(mine, submissionOf('theirs'))).toMatchObject({ outcome: 'unavailable' });
  await expect(mine.command('hgetall', theirs.meta)).rejects.toThrow(noPermission);
  await expect(mine.command('publish', theirs.ready, 'x')).rejects.toThrow(noPermission);
  const sneak = `return redis.call('HGETALL', '${theirs.meta}')`;
  await expect(mine.command('eval', sneak, 0)).rejects.toThrow(noPermission);
  const write = `return redis.call('SET', '${theirs.prefix}x', 1)`;
  await expect(mine.command('eval', write, 1, keysOf('mine').meta)).rejects.toThrow(noPermission);
});

test('it cannot list keys, administer or empty the server', async () => {
  const calls = [
    ['scan', '0'],
    ['keys', '*'],
    ['flushall'],
    ['config', 'get', '*'],
    ['acl', 'list'],
    ['info'],
  ];
  for (const [name = '', ...args] of [...calls, ['client', 'list'], ['pubsub', 'channels']])
    await expect(mine.command(name, ...args)).rejects.toThrow(noPermission);
});

test('the gateway manages no accounts, and nothing is available without an account', async () => {
  expect(await hasPoolAccount(gateway, 'mine')).toMatchObject({ outcome: 'unavailable' });
  for (const [username, password] of [
    ['default', ''],
    [OPERATOR_ACCOUNT, 'wrong'],
  ] as const)
    await expect(connectAs(username, password, 300)).rejects.toThrow('not reached');
});

test('an account is made once, changes with its password, outlives the server, and can be removed', async () => {
  const password = sha256('mine-password');
  expect(await ensurePoolAccount(operator, 'mine', password)).toEqual({ outcome: 'done', changed: false });
  expect(await ensurePoolAccount(operator, 'theirs', sha256('new'))).toEqual({
    outcome: 'done',
    changed: true,
  });
  await redis.restart();
  await operator.ready(AbortSignal.timeout(5_000));
  expect(await hasPoolAccount(operator, 'mine')).toBe(true);
  await connectAs(poolAccount('theirs'), 'new');
  expect(await dropPoolAccount(operator, 'theirs')).toEqual({ outcome: 'done' });
  expect(await hasPoolAccount(operator, 'theirs')).toBe(false);
});

test('an account whose removal was cut off before it was saved is gone for good once it is removed again', async () => {
  await ensurePoolAccount(operator, 'gone', sha256('password'));
  await operator.command('acl', 'deluser', poolAccount('gone'));
  expect(await dropPoolAccount(operator, 'gone')).toEqual({ outcome: 'done' });
  await redis.restart();
  await operator.ready(AbortSignal.timeout(5_000));
  expect(await hasPoolAccount(operator, 'gone')).toBe(false);
});

test('a server that was started by an earlier version gets the rules of this one, without a restart', async () => {
  for (const conn of [operator, gateway]) await conn.ready(AbortSignal.timeout(5_000));
  expect(await ensureAclUsers(operator, passwords)).toEqual({ outcome: 'done', changed: false });
  await operator.command('acl', 'setuser', GATEWAY_ACCOUNT, '-publish', '+config');
  await operator.command('acl', 'setuser', OPERATOR_ACCOUNT, '-publish');
  await expect(gateway.command('publish', 'wl:x', 'y')).rejects.toThrow(noPermission);
  expect(await ensureAclUsers(operator, passwords)).toEqual({ outcome: 'done', changed: true });
  for (const conn of [operator, gateway]) expect(await conn.command('publish', 'wl:x', 'y')).toBe(0);
  await expect(gateway.command('config', 'get', '*')).rejects.toThrow(noPermission);
  await redis.restart();
  for (const conn of [operator, gateway]) {
    await pollUntil('a connection', () => conn.command('publish', 'wl:x', 'y').then((heard) => heard === 0), {
      timeoutMs: 30_000,
    });
  }
});

test('a project that is closed leaves nothing', async () => {
  await openProject(operator, 'short-lived');
  await submit(gateway, submissionOf('short-lived', { dedupeKey: 'k' }));
  expect(await closeProject(operator, 'short-lived')).toEqual({ outcome: 'done' });
  const [, left] = (await operator.command('scan', '0', 'match', 'wl:{short-lived}*', 'count', 10_000)) as [
    string,
    string[],
  ];
  expect(left).toEqual([]);
});
