/** Accounts of a run store with replicas: each server has its own, and a promoted one has to know them. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { submit } from '../../../runs/submit.ts';
import {
  dropPoolAccount,
  ensurePoolAccount,
  OPERATOR_ACCOUNT,
  poolAccount,
} from '../../../store/accounts.ts';
import { connectRunStore, type RunStoreConnection } from '../../../store/connection.ts';
import { createCollectedLog } from '../../support/logs/collectedLog.ts';
import { aclFile } from '../../support/runStore/aclFile.ts';
import type { TestRedis } from '../../support/runStore/redis.ts';
import { newProject, submissionOf } from '../../support/runStore/runStore.ts';
import {
  callServer,
  PRIMARY,
  startReplicatedRedis,
  type ReplicatedRedis,
} from '../../support/runStore/sentinel.ts';
import { pollUntil } from '../../support/time/poll.ts';

const SOON = { timeoutMs: 20_000 };
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const own = aclFile({ operatorSha256: sha256('operator'), gatewaySha256: sha256('gateway') });

const log = createCollectedLog();
let redis: ReplicatedRedis;
let replica: TestRedis;
let operator: RunStoreConnection;
beforeAll(async () => {
  // Sentinels and replicas log in as `default`.
  const acl = own.replace('user default reset off ~*', 'user default reset on nopass ~*');
  redis = await startReplicatedRedis(1, { acl });
  replica = redis.servers[1] as TestRedis;
  const account = { username: OPERATOR_ACCOUNT, password: 'operator' };
  operator = connectRunStore({ url: redis.url(1), ...account, name: 'operator', log });
  await operator.ready();
});
afterAll(async () => {
  await operator.close();
  await redis.stop();
});

const usersOf = async ({ port }: TestRedis) => (await callServer(port, ['acl', 'users'])) as string[];

test('a pool is accepted by the promoted replica at once, and a removed one by no server', async () => {
  const project = await newProject(operator);
  const name = poolAccount(project);
  expect(await ensurePoolAccount(operator, project, sha256('pool'))).toEqual({
    outcome: 'done',
    changed: true,
  });
  expect(await ensurePoolAccount(operator, project, sha256('pool'))).toEqual({
    outcome: 'done',
    changed: false,
  });
  for (const server of redis.servers) expect(await usersOf(server)).toContain(name);

  const pool = connectRunStore({ url: redis.url(1), username: name, password: 'pool', name: 'pool' });
  await pool.ready();
  await redis.sentinels[0]?.call('sentinel', 'failover', PRIMARY);
  await pollUntil('a failover', async () => (await redis.primary()) === replica, SOON);
  await pollUntil(
    'an event of the pool',
    async () => (await submit(pool, submissionOf(project))).outcome === 'accepted',
    SOON,
  );
  expect(String(await callServer(replica.port, ['info', 'replication']))).toContain('role:master');
  await pool.close();

  await pollUntil(
    'the account to be removed',
    async () => (await dropPoolAccount(operator, project)).outcome === 'done',
    SOON,
  );
  for (const server of redis.servers) expect(await usersOf(server)).not.toContain(name);
});

test('a replica that does not answer delays no account, and has it with a later repetition', async () => {
  const project = await newProject(operator);
  const first = await redis.primary();
  const other = redis.servers.find((server) => server !== first) as TestRedis;
  other.freeze();
  expect(await ensurePoolAccount(operator, project, sha256('pool'))).toMatchObject({ outcome: 'done' });
  expect(log.messages('warn')).toContain('run store: replica does not answer');
  other.thaw();
  await pollUntil(
    'the account on the replica',
    async () => {
      await ensurePoolAccount(operator, project, sha256('pool'));
      return (await usersOf(other)).includes(poolAccount(project));
    },
    SOON,
  );
});
