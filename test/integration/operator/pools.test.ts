/** A runner pool that cannot start is named by the workflows that need it. The Deployment's status is what its controller writes. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findCondition } from '../../../kube/conditions.ts';
import { deployments } from '../../../kube/resource.ts';
import { POOL } from '../../../operator/project/names.ts';
import { workflows } from '../../../operator/resources.ts';
import { startOperatorStage, type OperatorStage } from '../../support/operatorStage.ts';
import { pollUntil } from '../../support/poll.ts';

const QUOTA =
  'pods "windlass-runner-6d5f7-" is forbidden: exceeded quota: compute, requested: limits.memory=512Mi, used: limits.memory=0, limited: limits.memory=256Mi';

let stage: OperatorStage;

beforeAll(async () => {
  stage = await startOperatorStage({ startsPools: false });
  stage.startOperator();
}, 600_000);

afterAll(() => stage?.stop());

test('a quota that keeps runners away is named by the workflow, which is Active again once a runner is ready', async () => {
  const { namespace } = await stage.createProject();
  const spec = { active: true, nodes: [{ id: 'trigger', webhook: { path: 'orders' } }] };
  await stage.client.create(workflows, { metadata: { namespace, name: 'orders' }, spec });
  const started = { type: 'PoolReady', status: 'False', reason: 'PoolStarting' };
  await stage.waitFor(namespace, 'orders', started);
  await stage.waitFor(namespace, 'orders', { type: 'Active', status: 'True' });
  await pool(namespace, {
    replicas: 0,
    conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: QUOTA }],
  });
  const { status } = await stage.waitFor(namespace, 'orders', {
    type: 'Active',
    status: 'False',
    reason: 'PodsRefused',
  });
  expect(findCondition(status?.conditions, 'Ready')).toMatchObject({
    status: 'False',
    reason: 'PodsRefused',
  });
  expect(findCondition(status?.conditions, 'PoolReady')?.message).toContain('exceeded quota: compute');
  expect(findCondition(status?.conditions, 'Stalled')).toBeUndefined();
  await pool(namespace, { replicas: 1, readyReplicas: 1, availableReplicas: 1, conditions: [] });
  await stage.waitFor(namespace, 'orders', { type: 'Ready', status: 'True', reason: 'Serving' });
  await stage.waitFor(namespace, 'orders', { type: 'Active', status: 'True' });
});

async function pool(namespace: string, status: object): Promise<void> {
  const ref = { namespace, name: POOL };
  await pollUntil('the pool being there', () => stage.client.find(deployments, ref), { timeoutMs: 20_000 });
  await stage.client.patch(deployments, ref, { status }, { type: 'merge', subresource: 'status' });
}
