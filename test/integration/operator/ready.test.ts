/** `Ready` means that a request that is sent now is answered: with gateways as they are, two of them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Manifest } from '../../../kube/writes.ts';
import type { Workflow } from '../../../api/kinds.ts';
import { workflows } from '../../../operator/shared/resources.ts';
import type { GatewayProcess } from '../../support/gateway/gatewayProcess.ts';
import { startOperatorHarness, type OperatorHarness } from '../../support/operator/operatorHarness.ts';
import { startReplicas } from '../../support/operator/gatewayReplicas.ts';

const WORKFLOWS = 100;

let harness: OperatorHarness;
let gateways: GatewayProcess[] = [];

beforeAll(async () => {
  harness = await startOperatorHarness();
  gateways = await startReplicas(harness, harness.server.kubeconfigPath);
  harness.startOperator();
}, 600_000);

afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  await harness?.stop();
});

const manifest = (namespace: string, name: string): Manifest<Workflow> => ({
  metadata: { namespace, name },
  spec: { active: true, nodes: [{ id: 'trigger', webhook: { path: 'hook' } }] },
});

const post = async (gateway: GatewayProcess, id: string): Promise<number> => {
  const answer = await fetch(`${gateway.publicURL}/webhook/${id}/hook`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  return answer.status;
};

test('a POST in the moment after Ready is answered by every replica, for one fresh workflow after the other', async () => {
  const { namespace } = await harness.createProject();
  const answers: number[] = [];
  for (let index = 0; index < WORKFLOWS; index += 1) {
    const name = `fresh-${index}`;
    await harness.client.create(workflows, manifest(namespace, name));
    await harness.waitFor(namespace, name, { type: 'Ready', status: 'True', reason: 'Serving' });
    answers.push(...(await Promise.all(gateways.map((gateway) => post(gateway, `${namespace}.${name}`)))));
  }
  expect(answers.filter((status) => status === 200)).toHaveLength(WORKFLOWS * gateways.length);
}, 120_000);

test('many workflows that are applied at once become ready, and all of them answer', async () => {
  const { namespace } = await harness.createProject();
  const names = Array.from({ length: WORKFLOWS }, (_, index) => `crowd-${index}`);
  await Promise.all(names.map((name) => harness.client.create(workflows, manifest(namespace, name))));
  const answers = await Promise.all(
    names.map(async (name) => {
      await harness.waitFor(namespace, name, { type: 'Ready', status: 'True' }, 60_000);
      return Promise.all(gateways.map((gateway) => post(gateway, `${namespace}.${name}`)));
    }),
  );
  expect(answers.flat().filter((status) => status === 200)).toHaveLength(WORKFLOWS * gateways.length);
}, 120_000);

test('switched off, a URL is gone at every replica within two seconds', async () => {
  const { namespace } = await harness.createProject();
  const id = `${namespace}.off`;
  await harness.client.create(workflows, manifest(namespace, 'off'));
  await harness.waitFor(namespace, 'off', { type: 'Ready', status: 'True', reason: 'Serving' });
  const startedAt = performance.now();
  const ref = { namespace, name: 'off' };
  await harness.client.patch(workflows, ref, { spec: { active: false } }, { type: 'merge' });
  const closed = async () => {
    const statuses = await Promise.all(gateways.map((gateway) => post(gateway, id)));
    return statuses.every((status) => status === 404);
  };
  await expect.poll(closed, { timeout: 10_000, interval: 10 }).toBe(true);
  expect(performance.now() - startedAt).toBeLessThan(2_000);
  await harness.waitFor(namespace, 'off', { type: 'Ready', status: 'True', reason: 'Inactive' });
});
