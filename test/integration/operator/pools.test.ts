/**
 * A runner pool that cannot start is named by the workflows that need it. The Deployment's status is what its
 * controller writes.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findCondition } from '../../../kube/conditions.ts';
import { deployments, events, pods, secrets } from '../../../kube/resource.ts';
import { parseKeys } from '../../../operator/project/callbackKeys.ts';
import { CALLBACK_KEYS } from '../../../operator/project/manifests.ts';
import { POOL, POOL_LABELS } from '../../../operator/shared/names.ts';
import { projectSettings, workflows } from '../../../operator/shared/resources.ts';
import {
  startOperatorHarness,
  SYSTEM,
  type OperatorHarness,
} from '../../support/operator/operatorHarness.ts';
import { readRun } from '../../../runs/read.ts';
import { submit } from '../../../runs/submit.ts';
import { readCallbackSettings } from '../../../store/callbacks.ts';
import { keysOf } from '../../../store/keys.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { clusterRoles, isAllowed } from '../../support/cluster/users.ts';

const QUOTA =
  'pods "windlass-runner-6d5f7-" is forbidden: exceeded quota: compute, requested: limits.memory=512Mi, used: limits.memory=0, limited: limits.memory=256Mi';

const OPERATOR = `system:serviceaccount:${SYSTEM}:windlass-operator`;

let harness: OperatorHarness;

beforeAll(async () => {
  harness = await startOperatorHarness({ startsPools: false });
  harness.startOperator();
}, 600_000);

afterAll(() => harness?.stop());

test('a quota that keeps runners away is named by the workflow, which is Active again once a runner is ready', async () => {
  const { namespace } = await harness.createProject();
  const spec = { active: true, nodes: [{ id: 'trigger', webhook: { path: 'orders' } }] };
  await harness.client.create(workflows, { metadata: { namespace, name: 'orders' }, spec });
  const started = { type: 'PoolReady', status: 'False', reason: 'PoolStarting' };
  await harness.waitFor(namespace, 'orders', started);
  await harness.waitFor(namespace, 'orders', { type: 'Active', status: 'True' });
  await pool(namespace, {
    replicas: 0,
    conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: QUOTA }],
  });
  const { status } = await harness.waitFor(namespace, 'orders', {
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
  await harness.waitFor(namespace, 'orders', { type: 'Ready', status: 'True', reason: 'Serving' });
  await harness.waitFor(namespace, 'orders', { type: 'Active', status: 'True' });
});

test('a quota that admits fewer runners than the backlog needs is named by the settings, and events are kept', async () => {
  const { namespace, uid } = await harness.createProject();
  const runners = { autoscaling: { engine: 'Builtin' as const, min: 2, max: 4 } };
  await harness.client.create(projectSettings, {
    metadata: { namespace, name: 'default' },
    spec: { runners },
  });
  const spec = { active: true, nodes: [{ id: 'trigger', webhook: { path: 'orders' } }] };
  const { metadata } = await harness.client.create(workflows, {
    metadata: { namespace, name: 'orders' },
    spec,
  });
  const refused = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: QUOTA };
  await pool(namespace, { observedGeneration: 1, replicas: 0, conditions: [refused] });
  expect(await settingsSay(namespace, 'False', 'PodsRefused')).toContain('exceeded quota: compute');
  const { status } = await harness.waitFor(namespace, 'orders', { type: 'PoolReady', status: 'False' });
  const submitted = await submit(harness.conn, {
    project: uid,
    workflow: 'orders',
    workflowUid: metadata.uid ?? '',
    revision: status?.revision ?? '',
    trigger: 'webhook',
    input: '{"text_content":"","data_content":{}}',
    bodyHash: '',
    test: false,
  });
  if (submitted.outcome !== 'accepted') throw new Error(`the event was not accepted: ${submitted.outcome}`);
  const one = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
  await pool(namespace, { observedGeneration: 1, ...one, conditions: [refused] });
  await pollUntil(
    'the workflow naming the quota beside its runner',
    async () => {
      const { status: now } = await harness.client.get(workflows, { namespace, name: 'orders' });
      const ready = findCondition(now?.conditions, 'PoolReady');
      return ready?.status === 'True' && ready.message.includes('exceeded quota: compute');
    },
    { timeoutMs: 20_000 },
  );
  expect(await settingsSay(namespace, 'False', 'PodsRefused')).toContain('exceeded quota: compute');
  expect(await readRun(harness.conn, uid, submitted.run)).toMatchObject({ phase: 'Pending' });
});

test('the keys of callbacks are in the Secret of the pool, and in the run store also after it lost its data', async () => {
  const { namespace, uid } = await harness.createProject();
  const spec = { active: true, nodes: [{ id: 'trigger', webhook: { path: 'orders' } }] };
  await harness.client.create(workflows, { metadata: { namespace, name: 'orders' }, spec });
  const stored = () =>
    pollUntil(
      'the keys in the run store',
      async () => {
        const read = await readCallbackSettings(harness.conn, uid);
        return read.outcome === 'read' ? read.settings : undefined;
      },
      { timeoutMs: 60_000, everyMs: 50 },
    );
  const { key } = await stored();
  const secret = await harness.client.find(secrets, { namespace, name: POOL });
  const text = Buffer.from(secret?.data?.[CALLBACK_KEYS] ?? '', 'base64').toString();
  expect(parseKeys(text).map(({ id }) => id)).toEqual([key.id]);
  await harness.redisCommand('DEL', keysOf(uid).callbacks);
  await harness.client.patch(
    workflows,
    { namespace, name: 'orders' },
    { spec: { active: false } },
    { type: 'merge' },
  );
  expect((await stored()).key).toEqual(key);
}, 150_000);

const ROLLED_OUT = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
const UNSCHEDULED = "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.";

test('settings with which no node takes a runner are not in effect, and say the words of the scheduler', async () => {
  const { namespace } = await harness.createProject();
  const spec = { active: true, nodes: [{ id: 'trigger', webhook: { path: 'orders' } }] };
  await harness.client.create(workflows, { metadata: { namespace, name: 'orders' }, spec });
  await pool(namespace, { observedGeneration: 1, ...ROLLED_OUT });
  await harness.waitFor(namespace, 'orders', { type: 'Ready', status: 'True' });
  const runners = { replicas: 2 };
  await harness.client.create(projectSettings, {
    metadata: { namespace, name: 'default' },
    spec: { runners },
  });
  await settingsSay(namespace, 'Unknown', 'RollingOut');
  await unscheduledRunner(namespace);
  expect(await settingsSay(namespace, 'False', 'PodsNotReady')).toContain(UNSCHEDULED);
  expect(await namesScheduler(namespace, 'True')).toBe(true);
  const reasons = async () =>
    (await harness.client.list(events, { namespace })).items.map(
      ({ reason, regarding }) => `${regarding.kind} ${reason}`,
    );
  await pollUntil(
    'the Event of the settings',
    async () => (await reasons()).includes('ProjectSettings PodsNotReady'),
    { timeoutMs: 20_000 },
  );
  const all = { replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 };
  await pool(namespace, { observedGeneration: 2, ...all });
  await settingsSay(namespace, 'True', 'SettingsApplied');
});

test('a runner that is lost and that no node takes is named with the words of the scheduler', async () => {
  const { namespace } = await harness.createProject();
  const spec = { active: true, nodes: [{ id: 'trigger', webhook: { path: 'orders' } }] };
  await harness.client.create(workflows, { metadata: { namespace, name: 'orders' }, spec });
  await pool(namespace, { observedGeneration: 1, ...ROLLED_OUT });
  await harness.waitFor(namespace, 'orders', { type: 'Ready', status: 'True' });
  await unscheduledRunner(namespace);
  await pool(namespace, { readyReplicas: 0, availableReplicas: 0 });
  // Sooner than the next check of a rollout.
  expect(await namesScheduler(namespace, 'False', 5_000)).toBe(true);
});

test('without the right to list pods the log names it, and the pool is reconciled all the same', async () => {
  const role = { name: 'windlass-operator' };
  const { rules } = await harness.client.get(clusterRoles, role);
  const lacks = rules.filter(({ resources }) => !resources.includes('pods'));
  expect(lacks).toHaveLength(rules.length - 1);
  await harness.client.patch(clusterRoles, role, { rules: lacks }, { type: 'merge' });
  try {
    const { namespace } = await harness.createProject();
    const rule = { apiGroups: [''], resources: ['pods'], verbs: ['list'] };
    const isGone = async () => !(await isAllowed(harness.client, { user: OPERATOR, namespace }, rule));
    await pollUntil('the right being gone', isGone, { timeoutMs: 15_000, everyMs: 20 });
    const spec = { active: true, nodes: [{ id: 'trigger', webhook: { path: 'orders' } }] };
    await harness.client.create(workflows, { metadata: { namespace, name: 'orders' }, spec });
    await harness.waitFor(namespace, 'orders', {
      type: 'PoolReady',
      status: 'False',
      reason: 'PoolStarting',
    });
    const named = () =>
      harness.log.entries.some(
        ({ message, fields }) =>
          message === 'cannot list the runner pods' &&
          (fields as { err?: Error }).err?.message.includes('cannot list resource "pods"') === true,
      );
    await pollUntil('the right in the log', named, { timeoutMs: 20_000 });
  } finally {
    await harness.client.patch(clusterRoles, role, { rules }, { type: 'merge' });
  }
});

test('a namespace whose only workflow is invalid says that no pool is started, and has none', async () => {
  const { namespace } = await harness.createProject();
  const nodes = [
    { id: 'trigger', webhook: { path: 'orders' } },
    { id: 'a', skill: { name: 'no_such_skill' } },
  ];
  await harness.client.create(workflows, {
    metadata: { namespace, name: 'orders' },
    spec: { active: true, nodes },
  });
  await harness.waitFor(namespace, 'orders', {
    type: 'PoolReady',
    status: 'Unknown',
    reason: 'PoolNotStarted',
  });
  expect(await harness.client.find(deployments, { namespace, name: POOL })).toBeUndefined();
});

/** Waits until the settings say so of their current generation; returns the message. */
async function settingsSay(namespace: string, status: string, reason: string): Promise<string> {
  let message = '';
  await pollUntil(
    `settings that are Ready=${status}/${reason}`,
    async () => {
      const object = await harness.client.get(projectSettings, { namespace, name: 'default' });
      const ready = findCondition(object.status?.conditions, 'Ready');
      message = ready?.message ?? '';
      return ready?.status === status && ready.reason === reason;
    },
    { timeoutMs: 40_000 },
  );
  return message;
}

async function pool(namespace: string, status: object): Promise<void> {
  const ref = { namespace, name: POOL };
  await pollUntil('the pool being there', () => harness.client.find(deployments, ref), { timeoutMs: 20_000 });
  await harness.client.patch(deployments, ref, { status }, { type: 'merge', subresource: 'status' });
}

async function unscheduledRunner(namespace: string): Promise<void> {
  const ref = { namespace, name: 'newer' };
  const template = { serviceAccountName: POOL, containers: [{ name: 'runner', image: 'a' }] };
  const labels = { ...POOL_LABELS };
  await harness.client.create(pods, { metadata: { ...ref, labels }, spec: template });
  const unscheduled = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message: UNSCHEDULED,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  const status = { conditions: [unscheduled] };
  await harness.client.patch(pods, ref, { status }, { type: 'merge', subresource: 'status' });
}

async function namesScheduler(
  namespace: string,
  poolReady: 'True' | 'False',
  timeoutMs = 20_000,
): Promise<true> {
  return pollUntil(
    'the workflow naming what keeps the runner away',
    async () => {
      const { status } = await harness.client.get(workflows, { namespace, name: 'orders' });
      const ready = findCondition(status?.conditions, 'PoolReady');
      return ready?.status === poolReady && ready.message.includes(UNSCHEDULED);
    },
    { timeoutMs },
  );
}
