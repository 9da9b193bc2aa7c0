/** From `kubectl apply` to a workflow that is served, and back. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import type { Workflow } from '../../../api/kinds.ts';
import { createClient } from '../../../kube/client.ts';
import { systemClock } from '../../../kube/clock.ts';
import { findCondition } from '../../../kube/conditions.ts';
import { after } from '../../../kube/controller.ts';
import { controllerRevisions, deployments, namespaces, roles, secrets } from '../../../kube/resource.ts';
import { removeDrafts } from '../../../operator/draft/controller.ts';
import { credentials, drafts, webhookRoutes, workflows } from '../../../operator/shared/resources.ts';
import { getRevision } from '../../../runs/revisions.ts';
import { auditTrail, type AuditLine } from '../../support/logs/auditTrail.ts';
import { kubectl } from '../../support/cluster/kubectl.ts';
import {
  startOperatorHarness,
  SYSTEM,
  type OperatorHarness,
} from '../../support/operator/operatorHarness.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { clusterRoles, isAllowed } from '../../support/cluster/users.ts';

const NAME = 'order-confirmation';
const folder = join(import.meta.dirname, '../../../examples', NAME);
const SOON = { timeoutMs: 40_000, everyMs: 25 };
const READY = { type: 'Ready', status: 'True', reason: 'Serving' };

let harness: OperatorHarness;
let namespace: string;
let uid: string;
let example: string[];

beforeAll(async () => {
  // The service that an example calls, as the demo allows it.
  const env = { RUNNER_EGRESS_ALLOW: '127.0.0.0/8,mail.windlass-demo.svc:8025' };
  harness = await startOperatorHarness({ env });
  harness.startOperator();
  const files = ['accounts.yaml', 'workflow.yaml'].map((name) => readFile(join(folder, name), 'utf8'));
  const texts = await Promise.all(files);
  example = texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toString()));
}, 600_000);

afterAll(() => harness?.stop());

beforeEach(async () => {
  ({ namespace, uid } = await harness.createProject());
});

const EXAMPLES: [name: string, expected: { type: string; status: string; reason: string }][] = [
  ['hello', READY],
  ['mail-count', READY],
  ['new-orders', READY],
  ['invoices', READY],
  ['newsletter', READY],
  ['poll-a-job', READY],
  ['environments', READY],
  ['morning-mail', READY],
  ['nightly-report', READY],
  // Nobody polls accounts here.
  ['mail-triage', { type: 'TriggerHealthy', status: 'Unknown', reason: 'Pending' }],
  ['mail-reply', { type: 'TriggerHealthy', status: 'Unknown', reason: 'Pending' }],
];

test.each(EXAMPLES)('examples/%s, applied as it lies there, is in effect', async (name, expected) => {
  await kubectl(harness.server, ['apply', '-n', namespace, '-f', join(folder, '..', name)]);
  await harness.waitFor(namespace, name, expected);
  for (const type of ['CredentialsReady', 'Routed'])
    await harness.waitFor(namespace, name, { type, status: 'True' });
  const { status } = await harness.waitFor(namespace, name, { type: 'Active', status: 'True' });
  expect(status?.id).toBe(`${namespace}.${name}`);
});

const applyExample = (documents = example) => harness.apply(namespace, documents.join('\n---\n'));
const refOf = (name: string) => ({ namespace, name });
const patch = (spec: object) =>
  harness.client.patch(workflows, refOf(NAME), { spec }, { type: 'merge', fieldManager: 'kubectl' });

function workflowManifest(name: string, ...nodes: object[]): string {
  const spec = { active: true, nodes: [{ id: 'trigger', webhook: { path: name } }, ...nodes] };
  return stringify({ apiVersion: 'windlass.dev/v1alpha1', kind: 'Workflow', metadata: { name }, spec });
}

test('an applied example becomes ready, with a URL, a route, a revision and runners that may read its Secret', async () => {
  await applyExample();
  const { metadata, status } = await harness.waitFor(namespace, NAME, READY);
  expect(status).toMatchObject({
    id: `${namespace}.${NAME}`,
    url: `https://hooks.example.com/webhook/${namespace}.${NAME}/orders`,
    trigger: 'webhook',
    observedGeneration: metadata.generation,
  });
  const route = await harness.client.get(webhookRoutes, refOf(NAME));
  expect(route.spec).toMatchObject({
    workflowUID: metadata.uid,
    projectUID: uid,
    revision: status?.revision,
    active: true,
    webhook: { path: 'orders', reply: true, replyTimeoutSeconds: 30 },
  });
  const revision = await harness.client.get(controllerRevisions, refOf(status?.revision ?? ''));
  expect(await getRevision(harness.conn, uid, revision.metadata.name)).toEqual(revision.data);
  const role = await harness.client.get(roles, refOf('windlass-runner'));
  expect(role.rules).toContainEqual({
    apiGroups: [''],
    resources: ['secrets'],
    resourceNames: ['order-accounts'],
    verbs: ['get'],
  });
  const pool = await harness.client.get(deployments, refOf('windlass-runner'));
  expect(pool.spec?.template.spec?.containers[0]?.env).toContainEqual({ name: 'PROJECT_UID', value: uid });
});

test.each([
  ['the workflow first', [3, 2, 1, 0]],
  ['the credentials first', [1, 2, 3, 0]],
  ['the workflow between the credentials', [1, 3, 0, 2]],
])('the objects of an example applied one by one converge: %s', async (_sentence, order) => {
  for (const index of order) await applyExample([example[index] ?? '']);
  const { status } = await harness.waitFor(namespace, NAME, READY);
  expect(status?.url).toContain(`${namespace}.${NAME}/orders`);
});

test('a missing credential is named with what to do, and heals when it appears', async () => {
  const [secret = '', model = '', mail = '', workflow = ''] = example;
  await applyExample([secret, model, workflow]);
  const expected = { type: 'CredentialsReady', status: 'False', reason: 'CredentialMissing' };
  const before = await harness.waitFor(namespace, NAME, expected);
  expect(findCondition(before.status?.conditions, 'CredentialsReady')?.message).toBe(
    'node mail: Credential order-mail does not exist in this namespace: apply it, or name another one',
  );
  expect(findCondition(before.status?.conditions, 'Stalled')).toBeUndefined();
  await applyExample([mail]);
  await harness.waitFor(namespace, NAME, READY);
});

test('a missing Secret key is named with the command that adds it, and heals when it is there', async () => {
  await applyExample();
  await harness.waitFor(namespace, NAME, READY);
  const [secret = ''] = example;
  await harness.client.delete(secrets, refOf('order-accounts'));
  await harness.apply(namespace, secret.replace('mail-password: demo-password', 'other: x'));
  await patchCredential();
  const expected = { type: 'CredentialsReady', status: 'False', reason: 'CredentialNotReady' };
  const before = await harness.waitFor(namespace, NAME, expected);
  expect(findCondition(before.status?.conditions, 'CredentialsReady')?.message).toContain(
    `Secret order-accounts has no key mail-password. Add it: kubectl -n ${namespace} patch secret`,
  );
  await harness.apply(namespace, secret);
  await harness.waitFor(namespace, NAME, READY);
});

/** Any change of a credential makes the operator read its Secret at once. */
async function patchCredential(): Promise<void> {
  const spec = { smtp: { port: 2526 } };
  await harness.client.patch(credentials, refOf('order-mail'), { spec }, { type: 'merge' });
}

test('switched off, the URL is gone when every replica says so; switched on, it is the same again', async () => {
  await applyExample();
  const { status } = await harness.waitFor(namespace, NAME, READY);
  harness.gateway.lag('gateway-1');
  await patch({ active: false });
  await harness.waitFor(namespace, NAME, { type: 'Ready', status: 'False', reason: 'WaitingForReplicas' });
  await harness.gateway.catchUp('gateway-1');
  const off = await harness.waitFor(namespace, NAME, { type: 'Ready', status: 'True', reason: 'Inactive' });
  expect(off.status?.url).toBeUndefined();
  expect((await harness.client.get(webhookRoutes, refOf(NAME))).spec).toMatchObject({ active: false });
  await patch({ active: true });
  const on = await harness.waitFor(namespace, NAME, READY);
  expect(on.status?.url).toBe(status?.url);
  expect(on.status?.revision).toBe(status?.revision);
  const ours = ({ object }: AuditLine): boolean => object?.namespace === namespace;
  const object = { kind: 'Workflow', namespace, name: NAME, uid: on.metadata.uid };
  const by = { object, manager: 'kubectl', resourceVersion: expect.stringMatching(/^\d+$/) as string };
  expect(auditTrail(harness.trail).filter(ours)).toMatchObject([
    { event: 'workflow.activate', ...by },
    { event: 'workflow.deactivate', ...by },
    { event: 'workflow.activate', ...by },
  ]);
  for (const suspend of [true, false]) {
    await patch({ suspend });
    await harness.waitFor(namespace, NAME, suspend ? { ...READY, reason: 'Suspended' } : READY);
  }
  expect(auditTrail(harness.trail).filter(ours).slice(3)).toMatchObject([
    { event: 'workflow.suspend', ...by },
    { event: 'workflow.deactivate', ...by },
    { event: 'workflow.resume', ...by },
    { event: 'workflow.activate', ...by },
  ]);
  await harness.client.delete(workflows, refOf(NAME));
  await expect
    .poll(() => auditTrail(harness.trail, 'workflow.delete').filter(ours), { timeout: 20_000 })
    .toMatchObject([{ object }]);
});

test('a workflow is ready only when every replica serves it, and a replica that comes later has to as well', async () => {
  await harness.gateway.ready('gateway-1', 'gateway-2');
  harness.gateway.lag('gateway-2');
  await harness.apply(namespace, workflowManifest('one'));
  const before = await harness.waitFor(namespace, 'one', {
    type: 'Routed',
    status: 'False',
    reason: 'WaitingForReplicas',
  });
  expect(findCondition(before.status?.conditions, 'Routed')?.message).toContain('gateway-2');
  expect(before.status?.url).toBeUndefined();
  await harness.gateway.catchUp('gateway-2');
  await harness.waitFor(namespace, 'one', READY);
  await harness.gateway.ready();
  await harness.waitFor(namespace, 'one', { type: 'Ready', status: 'False', reason: 'NoGateway' });
  await harness.gateway.ready('gateway-1');
  await harness.waitFor(namespace, 'one', READY);
});

test('an edit that breaks a step leaves what was valid in effect, and says so; mended, the new one serves', async () => {
  await harness.apply(namespace, workflowManifest('one', { id: 'reply', response: { body: 'one' } }));
  const first = await harness.waitFor(namespace, 'one', READY);
  await harness.apply(
    namespace,
    workflowManifest('one', { id: 'reply', response: { body: "{{ $('nobody').text_content }}" } }),
  );
  const broken = await harness.waitFor(namespace, 'one', {
    type: 'Ready',
    status: 'False',
    reason: 'UnknownReference',
  });
  expect(broken.status).toMatchObject({ revision: first.status?.revision, url: first.status?.url });
  expect(findCondition(broken.status?.conditions, 'Routed')?.message).toContain(first.status?.revision);
  await harness.apply(namespace, workflowManifest('one', { id: 'reply', response: { body: 'two' } }));
  const mended = await harness.waitFor(namespace, 'one', READY);
  expect(mended.status?.revision).not.toBe(first.status?.revision);
});

test('a broken workflow can still be switched off', async () => {
  const broken = workflowManifest('one', { id: 's', skill: { name: 'send_fax' } });
  await harness.apply(namespace, workflowManifest('one'));
  await harness.waitFor(namespace, 'one', READY);
  await harness.apply(namespace, broken.replace('active: true', 'active: false'));
  const off = await harness.waitFor(namespace, 'one', {
    type: 'Active',
    status: 'False',
    reason: 'Inactive',
  });
  expect(off.status?.url).toBeUndefined();
  expect((await harness.client.get(webhookRoutes, refOf('one'))).spec.webhook).toBeUndefined();
});

test('a trigger that cannot be activated is never served', async () => {
  const spec = { active: true, nodes: [{ id: 'tick', schedule: { cron: '0 0 30 2 *' } }] };
  const manifest = {
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'Workflow',
    metadata: { name: 'tick' },
    spec,
  };
  await harness.apply(namespace, stringify(manifest));
  await harness.waitFor(namespace, 'tick', { type: 'Ready', status: 'False', reason: 'InvalidSchedule' });
  expect(await harness.client.find(webhookRoutes, refOf('tick'))).toBeUndefined();
});

test('what the operator writes is not a field that kubectl applied', async () => {
  await applyExample();
  await harness.waitFor(namespace, NAME, READY);
  const args = ['-n', namespace, 'diff', '--server-side', '-f', '-'];
  expect(await kubectl(harness.server, args, { input: example.join('\n---\n') })).toBe('');
  const shown = await kubectl(harness.server, [
    '-n',
    namespace,
    'get',
    'wlf',
    NAME,
    '--show-managed-fields',
    '-o',
    'json',
  ]);
  const { managedFields } = (
    JSON.parse(shown) as { metadata: { managedFields: { manager: string; subresource?: string }[] } }
  ).metadata;
  for (const { manager, subresource } of managedFields)
    expect(manager.startsWith('windlass') ? subresource : 'status').toBe('status');
});

test('a route that somebody changed or deleted is put right', async () => {
  await harness.apply(namespace, workflowManifest('one'));
  await harness.waitFor(namespace, 'one', READY);
  const before = await harness.client.get(webhookRoutes, refOf('one'));
  await harness.client.patch(
    webhookRoutes,
    refOf('one'),
    { spec: { webhook: { path: 'hijacked' } } },
    { type: 'merge' },
  );
  const isRight = async () =>
    (await harness.client.find(webhookRoutes, refOf('one')))?.spec.webhook?.path === 'one';
  await pollUntil('the path put right', isRight, SOON);
  await harness.client.delete(webhookRoutes, refOf('one'));
  await pollUntil('the route made again', isRight, SOON);
  expect((await harness.client.get(webhookRoutes, refOf('one'))).metadata.uid).not.toBe(before.metadata.uid);
  await harness.waitFor(namespace, 'one', READY);
});

test('deleted, its route is gone at once, and so is the pool of a project that has no other workflow', async () => {
  await applyExample();
  await harness.apply(namespace, workflowManifest('other'));
  await harness.waitFor(namespace, NAME, READY);
  await harness.waitFor(namespace, 'other', READY);
  await harness.client.delete(workflows, refOf(NAME));
  const isGone = (resource: Parameters<typeof harness.client.find>[0], name: string) => async () =>
    (await harness.client.find(resource, refOf(name))) === undefined;
  await pollUntil('the route gone', isGone(webhookRoutes, NAME), SOON);
  const role = await pollUntil(
    'the role without the Secret',
    async () => {
      const { rules } = await harness.client.get(roles, refOf('windlass-runner'));
      return !rules.some(({ resources }) => resources.includes('secrets')) && rules;
    },
    SOON,
  );
  expect(role).toHaveLength(4);
  await harness.client.delete(workflows, refOf('other'));
  for (const resource of [deployments, roles, secrets])
    await pollUntil(`${resource.plural} of the pool gone`, isGone(resource, 'windlass-runner'), SOON);
});

test('made again under the same name, a workflow has a route of its own', async () => {
  await harness.apply(namespace, workflowManifest('one'));
  const first = await harness.waitFor(namespace, 'one', READY);
  await harness.client.delete(workflows, refOf('one'));
  await harness.apply(namespace, workflowManifest('one'));
  const second = await harness.waitFor(namespace, 'one', READY);
  const route = await harness.client.get(webhookRoutes, refOf('one'));
  expect(route.spec.workflowUID).toBe(second.metadata.uid);
  expect(route.metadata.ownerReferences?.map((owner) => owner.uid)).toEqual([second.metadata.uid]);
  expect(second.metadata.uid).not.toBe(first.metadata.uid);
});

test('the rights that the chart gives are enough for all of this', async () => {
  const requests = (await harness.metrics())
    .split('\n')
    .filter((line) => line.startsWith('windlass_operator_requests_total'));
  expect(requests.length).toBeGreaterThan(10);
  expect(requests.filter((line) => line.includes('code="403"'))).toEqual([]);
});

test('nothing is made in a namespace that is being deleted', async () => {
  await harness.client.delete(namespaces, { name: namespace });
  const said = await harness.apply(namespace, workflowManifest('one')).catch((error: Error) => error.message);
  expect(said).toMatch(/being terminated/);
  expect(harness.log.messages('error')).toEqual([]);
});

test('a right that the operator lacks is told with verb and resource, and what it hinders goes on when it is granted', async () => {
  const name = 'windlass-operator';
  const role = await harness.client.get(clusterRoles, { name });
  const without = role.rules.filter(({ resources }) => !resources.includes('webhookroutes'));
  await harness.client.replace(clusterRoles, { ...role, rules: without });
  const user = `system:serviceaccount:${SYSTEM}:${name}`;
  const lacking = role.rules.filter((rule) => !without.includes(rule));
  const areGone = async () => {
    const may = await Promise.all(
      lacking.map((rule) => isAllowed(harness.client, { user, namespace }, rule)),
    );
    return !may.includes(true);
  };
  await pollUntil('the right being gone', areGone, SOON);
  await harness.apply(namespace, workflowManifest('one'));
  const refused = await harness.waitFor(namespace, 'one', {
    type: 'Routed',
    status: 'False',
    reason: 'Unauthorized',
  });
  expect(findCondition(refused.status?.conditions, 'Routed')?.message).toMatch(
    /lacks a right.*cannot patch resource "webhookroutes"/,
  );
  await harness.client.apply(clusterRoles, { metadata: { name }, rules: role.rules });
  expect((await harness.waitFor(namespace, 'one', READY)).status?.url).toBeDefined();
});

test('drafts that nobody changes are removed, sooner where no workflow has their name', async () => {
  const hello: Workflow = {
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'Workflow',
    metadata: { name: 'hello' },
    spec: { active: false, nodes: [] },
  };
  const spec = { base: { uid: 'u', body: '{}' }, body: '{}' };
  for (const name of ['hello', 'lost'])
    await harness.client.create(drafts, { metadata: { namespace, name }, spec });
  const client = createClient(harness.connection);
  const left = async (days: number): Promise<string[]> => {
    const now = new Date(Date.now() + days * 86_400_000);
    const action = await removeDrafts(
      { namespace: '', name: namespace },
      {
        client,
        clock: { ...systemClock, date: () => now },
        log: harness.log,
        pacer: { take: async () => undefined },
        caches: {
          namespaces: {
            get: () => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }),
          },
          workflows: { get: (_namespace, name) => (name === 'hello' ? hello : undefined) },
        },
      },
    );
    expect(action).toEqual(after(6 * 3_600_000));
    const { items } = await harness.client.list(drafts, { namespace });
    return items.map(({ metadata }) => metadata.name);
  };
  expect(await left(13)).toEqual(['hello', 'lost']);
  expect(await left(15)).toEqual(['hello']);
  expect(await left(91)).toEqual([]);
  await client.close();
});
