/** Accounts of a Redis Cluster: each server has its own, and projects reach their primary alone. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { submit } from '../../../runs/submit.ts';
import {
  dropPoolAccount,
  ensurePoolAccount,
  missingPoolAccounts,
  OPERATOR_ACCOUNT,
  poolAccount,
} from '../../../store/accounts.ts';
import { connectRunStore, type RunStoreConnection } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import { aclFile } from '../../support/runStore/aclFile.ts';
import { startCluster, type TestCluster } from '../../support/runStore/cluster.ts';
import { newProject, submissionOf } from '../../support/runStore/runStore.ts';
import { pollUntil } from '../../support/time/poll.ts';

const SOON = { timeoutMs: 20_000 };
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const own = aclFile({ operatorSha256: sha256('operator'), gatewaySha256: sha256('gateway') });

let cluster: TestCluster;
let operator: RunStoreConnection;
beforeAll(async () => {
  // Replicas and helpers log in as `default`.
  const acl = own.replace('user default reset off ~*', 'user default reset on nopass ~*');
  cluster = await startCluster({ acl });
  const account = { username: OPERATOR_ACCOUNT, password: 'operator' };
  operator = connectRunStore({ url: cluster.url(1), ...account, name: 'operator' });
  await operator.ready();
});
afterAll(async () => {
  await operator?.close();
  await cluster?.stop();
});

test('a pool has its account on every server, works with it, and reaches no other project', async () => {
  const project = await newProject(operator);
  const other = await newProject(operator);
  const name = poolAccount(project);
  const set = () => ensurePoolAccount(operator, project, sha256('pool'));
  expect(await set()).toEqual({ outcome: 'done', changed: true });
  expect(await set()).toEqual({ outcome: 'done', changed: false });
  for (const { call } of cluster.servers) expect(await call('acl', 'users')).toContain(name);
  expect(await missingPoolAccounts(operator, [project, other])).toEqual([other]);

  const pool = connectRunStore({ url: cluster.url(1), username: name, password: 'pool', name: 'pool' });
  await pool.ready();
  let isTold = false;
  await pool.subscriber().subscribe(keysOf(project).ready, () => void (isTold = true));
  expect(await submit(pool, submissionOf(project))).toMatchObject({ outcome: 'accepted' });
  await pollUntil('a message', () => isTold, SOON);
  await expect(submit(pool, submissionOf(other))).resolves.toMatchObject({ outcome: 'unavailable' });
  await pool.close();

  expect(await dropPoolAccount(operator, project)).toEqual({ outcome: 'done' });
  for (const { call } of cluster.servers) expect(await call('acl', 'users')).not.toContain(name);
});

test('an account that is missing on one primary is found', async () => {
  const project = await newProject(operator);
  await ensurePoolAccount(operator, project, sha256('pool'));
  expect(await missingPoolAccounts(operator, [project])).toEqual([]);
  await (await cluster.primaryOf(0)).call('acl', 'deluser', poolAccount(project));
  expect(await missingPoolAccounts(operator, [project])).toEqual([project]);
});
