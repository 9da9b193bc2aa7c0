/**
 * A managed run store: its users may manage no accounts and read no settings, and all runners share an
 * account that was supplied from outside.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { secrets } from '../../../kube/resource.ts';
import { keysOf } from '../../../store/keys.ts';
import {
  startOperatorHarness,
  SYSTEM,
  type OperatorHarness,
} from '../../support/operator/operatorHarness.ts';
import { deleteNamespace } from '../../support/operator/projectState.ts';
import { pollUntil } from '../../support/time/poll.ts';

const SOON = { timeoutMs: 40_000 };
const SECRET = { namespace: SYSTEM, name: 'windlass-run-store' };
const RUNNERS = { username: 'runners', password: 'of all runners' };
/** What services of others refuse. */
const MANAGED = '~* &* +@all -acl -config -debug -shutdown -replicaof -bgrewriteaof -module';

const poolOf = (namespace: string) => ({ namespace, name: 'windlass-runner' });

let harness: OperatorHarness;
beforeAll(async () => {
  const env = {
    REDIS_USERNAME: 'service',
    REDIS_SECRET_CREATE: 'false',
    REDIS_RUNNER_USERNAME: RUNNERS.username,
  };
  harness = await startOperatorHarness({ env, bounded: false, redis: { config: ['appendonly no'] } });
  for (const [name, password] of [
    ['service', harness.password],
    [RUNNERS.username, RUNNERS.password],
  ] as const)
    await harness.redisCommand('acl', 'setuser', name, 'on', `>${password}`, ...MANAGED.split(' '));
});
afterAll(() => harness?.stop());

test('without the password of the supplied account the operator says how to create it', async () => {
  harness.startOperator();
  const isTold = () =>
    harness.log.entries.find(({ message }) => message === 'cannot read the run store password');
  const { fields } = await pollUntil('a line of the log', isTold, SOON);
  expect((fields as { err: Error }).err.message).toMatch(
    /^Secret windlass-run-store has no key runner-password\. Create it: kubectl -n windlass-system create secret generic .*--from-literal=runner-password=VALUE$/,
  );
});

test('runners get the supplied account, and the operator asks for nothing that the service refuses', async () => {
  const { data } = await harness.client.get(secrets, SECRET);
  const password = Buffer.from(RUNNERS.password).toString('base64');
  await harness.client.apply(secrets, { metadata: SECRET, data: { ...data, 'runner-password': password } });
  const { namespace, uid } = await harness.createProject();
  const nodes = [{ id: 'trigger', webhook: { path: 'in' } }];
  const kind = { apiVersion: 'windlass.dev/v1alpha1', kind: 'Workflow', metadata: { name: 'orders' } };
  await harness.apply(namespace, stringify({ ...kind, spec: { active: true, nodes } }));
  await harness.waitFor(namespace, 'orders', { type: 'Ready', status: 'True' });
  const pool = await harness.client.get(secrets, poolOf(namespace));
  const given = (key: string) => Buffer.from(pool.data?.[key] ?? '', 'base64').toString();
  expect({ username: given('username'), password: given('password') }).toEqual(RUNNERS);

  const stored = () => harness.redisCommand('exists', keysOf(uid).meta);
  expect(await stored()).toEqual(['1']);
  await deleteNamespace(harness.client, namespace);
  await pollUntil('the removal of the data', async () => (await stored())[0] === '0', SOON);
  expect(await harness.redisCommand('acl', 'log')).toEqual(['']);
});

test('what the service shows of its durability is a line of the log and a metric', async () => {
  const isTold = () =>
    harness.log.entries.find(({ message }) => message === 'run store may lose confirmed data');
  expect((await pollUntil('a line of the log', isTold, SOON)).fields).toEqual({
    problems: ['NoAppendOnlyFile'],
  });
  const metrics = await harness.metrics();
  expect(metrics).toContain('windlass_operator_run_store_durability_problem{problem="NoAppendOnlyFile"} 1');
  expect(metrics).toContain('windlass_operator_run_store_durability_problem{problem="EvictsKeys"} 0');
});
