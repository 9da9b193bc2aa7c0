/**
 * Operator and gateway with rights in two namespaces only: there all works, and what is elsewhere is not
 * acted on.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LABEL, workflowId } from '../../../api/group.ts';
import { isConditionTrue } from '../../../kube/conditions.ts';
import {
  controllerRevisions,
  deployments,
  namespaces,
  roleBindings,
  roles,
  secrets,
  serviceAccounts,
  type Resource,
} from '../../../kube/resource.ts';
import {
  credentials,
  networkPolicies,
  podDisruptionBudgets,
  webhookRoutes,
  workflowRuns,
  workflows,
} from '../../../operator/shared/resources.ts';
import { ADMISSION } from '../../support/cluster/chart.ts';
import { startGateway, type GatewayProcess } from '../../support/gateway/gatewayProcess.ts';
import { mailWorkflow } from '../../support/operator/mailWorkflow.ts';
import {
  startOperatorHarness,
  SYSTEM,
  TESTER,
  WHOLE_POOL,
  type OperatorHarness,
} from '../../support/operator/operatorHarness.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { createUser, tokenOf, writeKubeconfig } from '../../support/cluster/users.ts';

const WATCHED = ['shop', 'office'];
const ELSEWHERE = 'elsewhere';
const READY = { type: 'Ready', status: 'True', reason: 'Serving' };
const POOL_PARTS: Resource[] = [
  networkPolicies,
  podDisruptionBudgets,
  secrets,
  roles,
  roleBindings,
  serviceAccounts,
];
const SOON = { timeoutMs: 40_000, everyMs: 50 };

let harness: OperatorHarness;
let gateway: GatewayProcess | undefined;

beforeAll(async () => {
  harness = await startOperatorHarness({
    watchNamespaces: WATCHED,
    templates: [...ADMISSION, 'gateway', 'gateway-rbac'],
    env: WHOLE_POOL,
  });
  await harness.client.create(namespaces, { metadata: { name: ELSEWHERE } });
  harness.startOperator();
});
afterAll(async () => {
  await gateway?.stop();
  await harness?.stop();
});

/** Without a runner no run ends, and with it no pool. */
const manifest = (namespace: string) => mailWorkflow(namespace === 'office' ? {} : { run: {} });

test('workflows of each of its namespaces are served, and those of another one are not touched', async () => {
  for (const namespace of [ELSEWHERE, ...WATCHED]) await harness.apply(namespace, manifest(namespace));
  for (const namespace of WATCHED) await harness.waitFor(namespace, 'orders', READY);
  const elsewhere = { namespace: ELSEWHERE };
  const made: Resource[] = [webhookRoutes, controllerRevisions, deployments, roles, serviceAccounts];
  for (const resource of made) expect((await harness.client.listAll(resource, elsewhere)).items).toEqual([]);
  const { status } = await harness.client.get(workflows, { ...elsewhere, name: 'orders' });
  expect(isConditionTrue(status?.conditions, 'Ready')).toBe(false);
  expect(status?.observedGeneration).toBeUndefined();
  const run = await harness.client.get(workflowRuns, { ...elsewhere, name: 'orders' });
  expect(run.status?.phase).toBeUndefined();
});

test('the label of one of its namespaces that requires auth is followed', async () => {
  const label = (value: string | null) =>
    harness.client.patch(
      namespaces,
      { name: 'office' },
      { metadata: { labels: { [LABEL.requireAuth]: value } } },
      { type: 'merge' },
    );
  await label('true');
  const refused = { type: 'Valid', status: 'False', reason: 'AuthRequired' };
  const { status } = await harness.waitFor('office', 'orders', refused);
  expect(status?.url).toBeUndefined();
  await label(null);
  expect((await harness.waitFor('office', 'orders', READY)).status?.url).toBeDefined();
});

test('the rights in these namespaces are all that it takes', async () => {
  const refused = harness.log.entries.filter(({ fields }) => JSON.stringify(fields).includes('forbidden'));
  expect(refused).toEqual([]);
  for (const namespace of WATCHED) {
    const credential = await harness.client.get(credentials, { namespace, name: 'orders' });
    expect(isConditionTrue(credential.status?.conditions, 'Ready')).toBe(true);
    for (const resource of POOL_PARTS)
      expect(await harness.client.find(resource, { namespace, name: 'windlass-runner' })).toBeDefined();
  }
});

test('the gateway serves the routes of these namespaces alone', async () => {
  const token = await tokenOf(harness.client, SYSTEM, 'windlass-gateway');
  // As if an operator with more rights had been here.
  const { spec } = await harness.client.get(webhookRoutes, { namespace: 'shop', name: 'orders' });
  await harness.client.create(webhookRoutes, {
    metadata: { namespace: ELSEWHERE, name: 'orders' },
    ...(spec && { spec }),
  });
  gateway = await startGateway({
    kubeconfigPath: await writeKubeconfig(harness.server, 'gateway', token),
    redisURL: harness.redis.url,
    pod: 'one',
    namespace: SYSTEM,
    env: { WATCH_NAMESPACES: WATCHED.join(','), REDIS_USERNAME: TESTER, REDIS_PASSWORD: TESTER },
  });
  const { publicURL, log } = gateway;
  const call = async (namespace: string) =>
    (await fetch(`${publicURL}/webhook/${workflowId(namespace, 'orders')}/orders`)).status;
  expect(await Promise.all([...WATCHED, ELSEWHERE].map(call))).toEqual([405, 405, 404]);
  expect(log.filter((line) => line.includes('forbidden'))).toEqual([]);
});

test('the operator of another installation writes in its own namespaces, and none of these', async () => {
  const { server, client: admin } = harness;
  const route = await admin.get(webhookRoutes, { namespace: 'shop', name: 'orders' });
  const { ownerReferences = [] } = route.metadata;
  const rules = [
    { apiGroups: ['windlass.dev'], resources: ['webhookroutes'], verbs: ['create'] },
    { apiGroups: ['apps'], resources: ['controllerrevisions'], verbs: ['create'] },
  ];
  const writeAs = async (namespace: string): Promise<string[]> => {
    const other = await createUser(admin, server.connection, { namespace, name: 'other-operator', rules });
    const metadata = { namespace, name: 'theirs', ownerReferences };
    const answers = await Promise.allSettled([
      other.create(webhookRoutes, { metadata, ...(route.spec && { spec: route.spec }) }),
      other.create(controllerRevisions, { metadata, revision: 1, data: {} }),
    ]);
    await other.close();
    return answers.map((answer) => (answer.status === 'fulfilled' ? 'written' : String(answer.reason)));
  };
  expect(await writeAs('shop')).toEqual([
    expect.stringContaining('routes are written by the operator'),
    expect.stringContaining('revisions of workflows are written by the operator'),
  ]);
  expect(await writeAs(ELSEWHERE)).toEqual(['written', 'written']);
});

test('a workflow that is deleted leaves nothing behind', async () => {
  const ref = { namespace: 'office', name: 'orders' };
  await harness.client.delete(workflows, ref);
  await pollUntil(
    'the pool gone',
    async () =>
      (await harness.client.find(deployments, { namespace: 'office', name: 'windlass-runner' })) ===
      undefined,
    SOON,
  );
  for (const resource of POOL_PARTS)
    expect(
      await harness.client.find(resource, { namespace: 'office', name: 'windlass-runner' }),
    ).toBeUndefined();
});
