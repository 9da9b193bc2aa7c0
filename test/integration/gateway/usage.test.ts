/** What the agents of a project used on a day, as a caller of the gateway reads it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GROUP } from '../../../api/group.ts';
import { webhookRoutes } from '../../../gateway/routing/follow.ts';
import { roleBindings, roles, serviceAccounts } from '../../../kube/resource.ts';
import { reserve } from '../../../runs/budget.ts';
import { dropWorkflow } from '../../../runs/deletion.ts';
import { tokenOf } from '../../support/cluster/users.ts';
import {
  NAMESPACE,
  PROJECT,
  putRoute,
  startGatewayHarness,
  workflowUid,
  type GatewayHarness,
} from '../../support/gateway/gatewayHarness.ts';
import { finish } from '../../support/runStore/calls.ts';
import { accepted, claimed, refOf, submissionOf } from '../../support/runStore/runStore.ts';
import { pollUntil } from '../../support/time/poll.ts';

let harness: GatewayHarness;
const tokens: Record<string, string> = {};

beforeAll(async () => {
  harness = await startGatewayHarness();
  for (const [name, verb] of Object.entries({ lister: 'list', reader: 'get' })) {
    const metadata = { namespace: NAMESPACE, name };
    await harness.client.create(serviceAccounts, { metadata });
    const rules = [{ apiGroups: [GROUP], resources: ['workflowruns'], verbs: [verb] }];
    await harness.client.create(roles, { metadata, rules });
    await harness.client.create(roleBindings, {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace: NAMESPACE }],
    });
    tokens[name] = await tokenOf(harness.client, NAMESPACE, name);
  }
  for (const workflow of ['kept', 'deleted']) {
    await putRoute(harness.client, workflow);
    await isServed(workflow, true);
  }
});
afterAll(() => harness?.close());

const isServed = (workflow: string, served: boolean) =>
  pollUntil(
    `the route of ${workflow}`,
    async () => (await fetch(harness.hook(workflow))).status === (served ? 405 : 404),
    { timeoutMs: 20_000 },
  );

const call = (user = 'lister', namespace = NAMESPACE) =>
  fetch(`${harness.gateway.internalURL}/projects/${namespace}/usage`, {
    headers: { authorization: `Bearer ${tokens[user] ?? ''}` },
  });

/** A run of the workflow asks a model. */
async function use(workflow: string, tokensUsed: number): Promise<void> {
  await accepted(harness.runs, submissionOf(PROJECT, { workflow, workflowUid: workflowUid(workflow) }));
  const [claim] = await claimed(harness.runs, PROJECT, 1);
  if (!claim) throw new Error('nothing was ready');
  const demand = { id: 'c1#1', step: 'agent', tokens: tokensUsed, cost: 1_500_000, currency: 'EUR' };
  expect(await reserve(harness.runs, refOf(claim), demand)).toMatchObject({ outcome: 'reserved' });
  await finish(harness.runs, refOf(claim), { phase: 'Succeeded' });
}

test('a project has no usage until an agent asks a model, and keeps that of a deleted workflow', async () => {
  expect(await (await call()).json()).toEqual({});
  await use('kept', 20);
  await use('deleted', 100);
  const date = new Date().toISOString().slice(0, 10);
  const usage = { date, tokens: 120, cost: '0.003', currency: 'EUR' };
  const ofWorkflow = (workflow: string, tokensUsed: number) => ({
    workflow: `${NAMESPACE}.${workflow}`,
    tokens: tokensUsed,
    cost: '0.0015',
    currency: 'EUR',
  });
  expect(await (await call()).json()).toEqual({
    usage,
    workflows: [ofWorkflow('deleted', 100), ofWorkflow('kept', 20)],
  });
  await dropWorkflow(harness.runs, PROJECT, workflowUid('deleted'));
  await harness.client.delete(webhookRoutes, { namespace: NAMESPACE, name: 'deleted' });
  await isServed('deleted', false);
  expect(await (await call()).json()).toEqual({ usage, workflows: [ofWorkflow('kept', 20)] });
});

test.each([
  ['without a token', 'nobody', NAMESPACE, 401],
  ['with the right to get runs alone', 'reader', NAMESPACE, 403],
  ['of a namespace in which the caller has no right', 'lister', 'kube-system', 403],
  ['of a namespace that cannot exist', 'lister', 'Shop', 404],
])('usage read %s is refused', async (_how, user, namespace, status) => {
  expect((await call(user, namespace)).status).toBe(status);
});
