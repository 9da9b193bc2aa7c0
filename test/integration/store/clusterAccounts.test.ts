/** Accounts of a Redis Cluster: each server has its own, and projects reach their primary alone. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { submit } from '../../../runs/submit.ts';
import {
  dropPoolAccount,
  ensurePoolAccount,
  GATEWAY_ACCOUNT,
  missingPoolAccounts,
  OPERATOR_ACCOUNT,
  poolAccount,
} from '../../../store/accounts.ts';
import { slotOf } from '../../../store/clusterSlots.ts';
import { connectRunStore, type RunStoreConnection } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import { createCollectedLog } from '../../support/logs/collectedLog.ts';
import { aclFile } from '../../support/runStore/aclFile.ts';
import { startCluster, type TestCluster } from '../../support/runStore/cluster.ts';
import { newProject, submissionOf } from '../../support/runStore/runStore.ts';
import { pollUntil } from '../../support/time/poll.ts';

const SOON = { timeoutMs: 20_000 };
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const own = aclFile({ operatorSha256: sha256('operator'), gatewaySha256: sha256('gateway') });
const gatewayAccount = { username: GATEWAY_ACCOUNT, password: 'gateway' };

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

test('a password that changed on one primary: its projects get 503, the log says why, and others continue', async () => {
  const log = createCollectedLog();
  const gateway = connectRunStore({ url: cluster.url(1), ...gatewayAccount, name: 'gateway', log });
  await gateway.ready();
  const project = await newProject(operator);
  const differs = async () => {
    const other = await newProject(operator);
    return operator.primaryOf(other) !== operator.primaryOf(project) && other;
  };
  const elsewhere = await pollUntil('a project on another primary', differs, SOON);
  const accepts = async (to: string) => (await submit(gateway, submissionOf(to))).outcome === 'accepted';
  expect([await accepts(project), await accepts(elsewhere)]).toEqual([true, true]);
  const { call, port } = await cluster.primaryOf(slotOf(keysOf(project).meta));

  await call('acl', 'setuser', GATEWAY_ACCOUNT, 'resetpass', '>other');
  await call('client', 'kill', 'user', GATEWAY_ACCOUNT);
  await pollUntil('a refused event', async () => !(await accepts(project)), SOON);
  const refusals = () =>
    log.entries.filter(({ message }) => message.startsWith('run store: refuses the login'));
  await pollUntil('a line of the log', () => refusals().length > 0, SOON);
  expect(refusals()[0]).toMatchObject({
    level: 'error',
    fields: {
      server: `127.0.0.1:${port}`,
      username: GATEWAY_ACCOUNT,
      error: expect.stringMatching(/^WRONGPASS/),
    },
  });
  expect([await accepts(project), await accepts(elsewhere)]).toEqual([false, true]);

  await call('acl', 'setuser', GATEWAY_ACCOUNT, 'resetpass', '>gateway');
  await pollUntil('an accepted event', () => accepts(project), SOON);
  await gateway.close();
});
