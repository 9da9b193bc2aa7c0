/** What the accounts of the programs may do, with the chart's roles and policies on a real API server. */
import { request } from 'node:https';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import {
  controllerRevisions,
  cronJobs,
  leases,
  namespacedResource,
  namespaces,
  roleBindings,
  roles,
  secrets as secretObjects,
  serviceAccounts,
  subjectAccessReviews,
  type KubeObject,
} from '../../../kube/resource.ts';
import type { ProjectSettingsSpec } from '../../../api/projectSettings.ts';
import { poolRole, poolRoleBinding, poolServiceAccount } from '../../../operator/project/manifests.ts';
import { withSettings } from '../../../operator/pods/settings.ts';
import { BOT_FINALIZER } from '../../../api/bot.ts';
import { credentials, workflowRuns } from '../../../operator/shared/resources.ts';
import { ensureStoreSecret } from '../../../operator/store/secret.ts';
import { startApiServer, type ApiServer } from '../../support/apiserver.ts';
import { ADMISSION, applyChart } from '../../support/chart.ts';
import { installCrds } from '../../support/crds.ts';
import { HOSTILE_PODS } from '../../support/hostilePods.ts';
import { hostile, HOSTILE_WRITES } from '../../support/hostileWrites.ts';
import { operatorWrites, type OperatorWrites, type Write } from '../../support/operatorWrites.ts';
import { pollUntil } from '../../support/poll.ts';
import { renderedChart } from '../../support/renderedChart.ts';
import { connectionOf, createUser, tokenOf } from '../../support/users.ts';

const SYSTEM = 'windlass-system';
const PROJECT = 'shop';
/** Where the operator writes what its functions make. */
const BOUNDED = 'office';
const OPERATOR = `system:serviceaccount:${SYSTEM}:windlass-operator`;
const GATEWAY = `system:serviceaccount:${SYSTEM}:windlass-gateway`;
const RUNNER = `system:serviceaccount:${PROJECT}:windlass-runner`;
const ROLE = 'eks.amazonaws.com/role-arn';
const RUNS = '/apis/windlass.dev/v1alpha1/namespaces/shop/workflowruns';
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const pods = namespacedResource<KubeObject>('', 'v1', 'Pod', 'pods');

/** Every setting of the chart that changes what the operator writes. */
const VALUES = {
  audit: { credentialUsesPerSecond: 10_000 },
  imagePullSecrets: ['registry'],
  redis: { tls: { enabled: true, secretName: 'redis-certificate' } },
  runner: {
    replicas: 3,
    resources: { limits: { memory: '1Gi', cpu: '2' } },
    env: { HTTPS_PROXY: 'http://proxy:3128', QUOTED: `it's "one" \\ {{ two }}\n`, EMPTY: '' },
    egress: { allow: ['10.20.0.0/16', 'model.models.svc:8080'], deny: ['203.0.113.0/24'] },
  },
  projectSettings: {
    maxReplicas: 12,
    egress: { allow: ['10.30.0.0/16', 'crm.office.svc:443'] },
    priorityClassNames: ['batch'],
    serviceAccountAnnotations: [ROLE],
    tolerationKeys: ['dedicated'],
    nodeSelectorKeys: ['pool', 'gpu'],
  },
};

const SETTINGS = Object.entries(VALUES).flatMap(([key, value]) => [
  '--set-json',
  `${key}=${JSON.stringify(value)}`,
]);
const chart = renderedChart(() => server);

let server: ApiServer;
let admin: KubeClient;
let operator: KubeClient;

beforeAll(async () => {
  server = await startApiServer();
  admin = createClient(server.connection, { fieldManager: 'test' });
  await installCrds(admin);
  for (const name of [SYSTEM, PROJECT, BOUNDED, 'other'])
    await admin.create(namespaces, { metadata: { name } });
  const programs = ['access', 'flow-control', 'gateway', 'gateway-rbac', 'operator', 'operator-rbac'];
  await applyChart(server, SYSTEM, { templates: [...ADMISSION, ...programs], values: VALUES });
  operator = createClient(connectionOf(server.connection, await tokenOf(admin, SYSTEM, 'windlass-operator')));
  await admin.apply(serviceAccounts, poolServiceAccount(PROJECT));
  await admin.apply(roles, poolRole(PROJECT, ['smtp', 'llm']));
  await admin.apply(roleBindings, poolRoleBinding(PROJECT));
  const metadata = { name: 'windlass-other', namespace: BOUNDED };
  await admin.create(roles, { metadata, rules: [] });
  const { runners, poolSecret } = await writesIn(BOUNDED);
  await untilRefused(hostile(runners, ['spec', 'replicas'], 13), 'at most 12 runners');
  await untilRefused(hostile(poolSecret, ['metadata', 'name'], 'smtp'), 'has that name');
});
afterAll(async () => {
  await operator?.close();
  await admin?.close();
  await server?.stop();
});

type Asked = {
  verb: string;
  group?: string;
  resource: string;
  subresource?: string;
  name?: string;
  namespace?: string;
};

/** What RBAC says. */
async function may(user: string, { group = '', namespace = PROJECT, ...rest }: Asked): Promise<boolean> {
  const review = await admin.create(subjectAccessReviews, {
    spec: { user, resourceAttributes: { group, namespace, ...rest } },
  });
  return review.status?.allowed === true;
}

/** Of these questions those that are answered with yes, as `verb name in namespace`. */
async function allowed(user: string, questions: Asked[]): Promise<string[]> {
  const answers = await Promise.all(questions.map((question) => may(user, question)));
  return questions.flatMap(({ verb, name = '*', namespace = PROJECT }, index) =>
    answers[index] ? [`${verb} ${name} in ${namespace}`] : [],
  );
}

const secrets = (
  verbs: string[],
  names: (string | undefined)[],
  where = [PROJECT, 'other', SYSTEM],
): Asked[] =>
  where.flatMap((namespace) =>
    verbs.flatMap((verb) =>
      names.map((name) => ({ verb, resource: 'secrets', namespace, ...(name !== undefined && { name }) })),
    ),
  );
const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'update', 'patch', 'delete', 'deletecollection'];

test('a runner can read the Secrets that credentials of its project name, and no other', async () => {
  const names = [undefined, 'smtp', 'llm', 'windlass-runner', 'windlass-run-store', 'other'];
  expect(await allowed(RUNNER, secrets([...READ, ...WRITE], names))).toEqual([
    'get smtp in shop',
    'get llm in shop',
  ]);
});

test('the gateway can read no Secret but those that verify webhooks, and write none', async () => {
  const names = [undefined, 'smtp', 'windlass-runner', 'windlass-run-store', 'other'];
  expect(await allowed(GATEWAY, secrets([...READ, ...WRITE], names))).toEqual([]);
  expect(await allowed(GATEWAY, secrets(WRITE, ['windlass-webhooks']))).toEqual([]);
});

test('the operator gets Secrets by name, lists none, and changes those alone that it makes', async () => {
  const everywhere = [undefined, 'smtp', 'windlass-run-store'];
  const verbs = ['list', 'watch', 'update', 'patch', 'delete', 'deletecollection'];
  expect(await allowed(OPERATOR, secrets(verbs, everywhere))).toEqual([]);
  expect(await may(OPERATOR, { verb: 'get', resource: 'secrets', name: 'smtp' })).toBe(true);
});

test('the operator changes of what makes a runner pool nothing that has another name', async () => {
  const kinds: [string, string][] = [
    ['', 'secrets'],
    ['', 'serviceaccounts'],
    ['apps', 'deployments'],
    ['rbac.authorization.k8s.io', 'roles'],
    ['rbac.authorization.k8s.io', 'rolebindings'],
    ['networking.k8s.io', 'networkpolicies'],
    ['policy', 'poddisruptionbudgets'],
  ];
  for (const [group, resource] of kinds) {
    const of = (name: string) => ['patch', 'delete'].map((verb) => ({ verb, group, resource, name }));
    expect(await allowed(OPERATOR, of('another'))).toEqual([]);
    expect(await allowed(OPERATOR, of('windlass-runner'))).toHaveLength(2);
  }
});

test('nobody but the operator writes a route, runners write no credential, and nobody of them a workflow', async () => {
  const of = (resource: string): Asked[] =>
    WRITE.map((verb) => ({ verb, group: 'windlass.dev', resource, name: 'one' }));
  for (const user of [GATEWAY, RUNNER])
    for (const resource of ['webhookroutes', 'workflows', 'credentials'])
      expect(await allowed(user, of(resource))).toEqual([]);
  expect(await allowed(OPERATOR, of('workflows'))).toEqual([]);
});

/** Binds the ClusterRole of the chart to a person of the same name, in the project. */
async function personWith(role: string): Promise<string> {
  await admin.create(roleBindings, {
    metadata: { name: role, namespace: PROJECT },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'User', name: role, apiGroup: 'rbac.authorization.k8s.io' }],
  });
  return role;
}

test.each([
  ['windlass-view', READ],
  ['windlass-edit', []],
  ['windlass-execute', []],
  ['windlass-project-admin', [...READ, ...WRITE]],
])('a person with the role %s may do this with the settings of the project', async (role, verbs) => {
  const person = await personWith(role);
  const questions = [...READ, ...WRITE].map((verb) => ({
    verb,
    group: 'windlass.dev',
    resource: 'projectsettings',
    name: 'default',
  }));
  const answers = () => allowed(person, questions);
  const expected = verbs.map((verb) => `${verb} default in shop`);
  await expect.poll(answers, { timeout: 10_000 }).toEqual(expected);
});

test('of the settings of a project the operator writes the status alone', async () => {
  const of = (verb: string, resource: string) => ({ verb, group: 'windlass.dev', resource, name: 'default' });
  const writes = WRITE.map((verb) => of(verb, 'projectsettings'));
  expect(await allowed(OPERATOR, writes)).toEqual([]);
  const status = { ...of('patch', 'projectsettings'), subresource: 'status' };
  expect(await may(OPERATOR, status)).toBe(true);
});

/** A token as kubelet gives it to a pod of the gateway. */
async function gatewayOf(pod: string): Promise<KubeClient> {
  const spec = {
    serviceAccountName: 'windlass-gateway',
    containers: [{ name: 'gateway', image: 'windlass' }],
  };
  const { metadata } = await admin.create(pods, { metadata: { name: pod, namespace: SYSTEM }, spec });
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: pod, uid: metadata.uid };
  const token = await tokenOf(admin, SYSTEM, 'windlass-gateway', { boundObjectRef });
  return createClient(connectionOf(server.connection, token), { fieldManager: 'gateway' });
}

test('a replica of the gateway writes its own Lease and no other', async () => {
  await admin.create(leases, { metadata: { name: 'windlass-operator', namespace: SYSTEM }, spec: {} });
  const gateway = await gatewayOf('one');
  const write = (name: string, who = gateway) =>
    who.apply(leases, { metadata: { name, namespace: SYSTEM }, spec: { holderIdentity: name } }).then(
      () => 'written',
      (error: Error) => error.message,
    );
  const refused = 'a replica of the gateway may write only its own Lease';
  await pollUntil('the policy in effect', async () => (await write('windlass-operator')).includes(refused), {
    timeoutMs: 20_000,
  });
  expect(await write('windlass-gateway-one')).toBe('written');
  expect(await write('windlass-gateway-two')).toContain(refused);
  const remove = (name: string) => gateway.delete(leases, { name, namespace: SYSTEM });
  await expect(remove('windlass-operator')).rejects.toThrow(refused);
  expect(await remove('windlass-gateway-one')).toBe(true);
  // Without a pod, as outside of a cluster, the beginning of the name decides.
  const token = await tokenOf(admin, SYSTEM, 'windlass-gateway');
  const outside = createClient(connectionOf(server.connection, token), { fieldManager: 'gateway' });
  expect(await write('windlass-gateway-two', outside)).toBe('written');
  expect(await write('windlass-operator', outside)).toContain(refused);
  await Promise.all([gateway.close(), outside.close()]);
});

test('the operator changes and removes its own CronJobs and no others', async () => {
  const { tick } = await writesIn(PROJECT);
  const foreign = hostile(tick, ['metadata', 'name'], 'backup-0123456789');
  const { name, namespace = '' } = foreign.manifest.metadata;
  await admin.create(foreign.resource, { ...foreign.manifest, metadata: { name, namespace } });
  const refused = 'the operator may change only its own CronJobs, not backup-0123456789';
  // Labels and owners that it gives itself do not help.
  const change = ({ resource, manifest }: Write) =>
    operator.apply(resource, manifest).then(
      () => 'changed',
      (error: Error) => error.message,
    );
  await pollUntil('the policy in effect', async () => (await change(foreign)).includes(refused), {
    timeoutMs: 20_000,
  });
  await expect(operator.delete(cronJobs, { name, namespace })).rejects.toThrow(refused);
  for (const _again of [1, 2]) expect(await change(tick)).toBe('changed');
  expect(await operator.delete(cronJobs, { name: tick.manifest.metadata.name, namespace })).toBe(true);
});

test('of a credential the operator changes the mark of its bot and nothing else', async () => {
  const bot = (apiURL: string) => ({ bot: { tokenRef: { name: 'smtp', key: 'token' }, apiURL } });
  const ref = { name: 'helper', namespace: PROJECT };
  const finalizers = ['example.com/kept'];
  await admin.create(credentials, { metadata: { ...ref, finalizers }, spec: bot('https://one.example.com') });
  const change = (patch: object) =>
    operator.patch(credentials, ref, patch, { type: 'merge' }).then(
      () => 'changed',
      (error: Error) => error.message,
    );
  const refused = 'the operator may change only the finalizer windlass.dev/bot-webhook of a credential';
  const elsewhere = { spec: bot('https://two.example.com') };
  await pollUntil('the policy in effect', async () => (await change(elsewhere)).includes(refused), {
    timeoutMs: 20_000,
  });
  for (const metadata of [{ labels: { a: 'b' } }, { annotations: { a: 'b' } }, { finalizers: null }])
    expect(await change({ metadata })).toContain(refused);
  expect(await change({ metadata: { finalizers: [...finalizers, BOT_FINALIZER] } })).toBe('changed');
  expect(await change({ metadata: { finalizers } })).toBe('changed');
});

/** All that a project may have of its own. */
const OF_PROJECT: ProjectSettingsSpec = {
  runners: {
    replicas: 12,
    resources: { limits: { memory: '2Gi' } },
    nodeSelector: { pool: 'workflows' },
    tolerations: [{ key: 'dedicated', operator: 'Exists' as const }],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'gpu', operator: 'DoesNotExist' }] }],
        },
      },
      podAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 1,
            podAffinityTerm: {
              topologyKey: 'topology.kubernetes.io/zone',
              labelSelector: { matchLabels: { app: 'crm' } },
            },
          },
        ],
      },
    },
    priorityClassName: 'batch',
    serviceAccountAnnotations: { [ROLE]: 'arn:aws:iam::1:role/office' },
  },
  egress: { allow: ['crm.office.svc:443'] },
};

/** What the operator writes into the namespace, with the settings that the chart gives it and those of the project. */
async function writesIn(namespace: string, settings?: ProjectSettingsSpec): Promise<OperatorWrites> {
  const { metadata } = await admin.get(namespaces, { name: namespace });
  const config = withSettings(await chart.operatorConfigOf(...SETTINGS), settings);
  return operatorWrites(config, { namespace, uid: metadata.uid ?? '' });
}

/** The answer of the API server to a write of the operator that it does not store. */
function answerTo({ resource, manifest }: Write): Promise<string> {
  return operator.create(resource, manifest, { dryRun: true }).then(
    () => 'accepted',
    (error: Error) => error.message,
  );
}

/** Waits until the API server enforces the policy whose refusal has this text: a moment after it has stored it. */
async function untilRefused(write: Write, text: string): Promise<void> {
  const isRefused = async () => (await answerTo(write)).includes(text);
  await pollUntil(`a refusal: ${text}`, isRefused, { timeoutMs: 20_000 });
}

test('the bounds of the operator accept everything that the operator writes', async () => {
  const writes = [await writesIn(BOUNDED), await writesIn(BOUNDED, OF_PROJECT), await writesIn(BOUNDED)];
  for (const { resource, manifest } of writes.flatMap((each) => Object.values(each))) {
    await operator.apply(resource, manifest);
    await operator.apply(resource, manifest);
  }
  await ensureStoreSecret(operator, { namespace: SYSTEM, name: 'windlass-run-store' });
  const runStore = await admin.get(secretObjects, { namespace: SYSTEM, name: 'windlass-run-store' });
  expect(runStore.type).toBe('Opaque');
  const metadata = { name: 'windlass-operator', namespace: SYSTEM };
  expect(await answerTo({ resource: leases, manifest: { metadata } })).toMatch(/accepted|already exists/);
});

test.each([...HOSTILE_WRITES, ...HOSTILE_PODS])(
  'the operator cannot write %s',
  async (_what, base, path, value, refused) => {
    const write = (await writesIn(BOUNDED))[base];
    if (write === undefined) throw new Error(`the operator does not write ${base} with these settings`);
    expect(await answerTo(hostile(write, path, value))).toContain(refused);
  },
);

test.each(['kube-system', 'kube-public', 'kube-node-lease', SYSTEM])(
  'the operator cannot write anything of a project in namespace %s',
  async (namespace) => {
    const { poolSecret, account, runners } = await writesIn(BOUNDED);
    for (const write of [poolSecret, account, runners])
      expect(await answerTo(hostile(write, ['metadata', 'namespace'], namespace))).toMatch(
        /Windlass runs no workflows in (namespace kube-|its own namespace)/,
      );
  },
);

test('the operator adds nothing to an account that others gave Secrets and a role in a cloud', async () => {
  const ref = { name: 'windlass-runner', namespace: PROJECT };
  const given = {
    metadata: { annotations: { 'example.com/role': 'reader' } },
    imagePullSecrets: [{ name: 'a' }],
  };
  await admin.patch(serviceAccounts, ref, given, { type: 'merge' });
  const { manifest } = (await writesIn(PROJECT)).account;
  await operator.apply(serviceAccounts, manifest, { dryRun: true });
  const change = (patch: object) =>
    operator.patch(serviceAccounts, ref, patch, { type: 'merge', dryRun: true });
  for (const [key, value] of [
    ['example.com/role', 'admin'],
    ['example.com/other', 'reader'],
  ] as const)
    await expect(change({ metadata: { annotations: { [key]: value } } })).rejects.toThrow(
      'the operator may annotate a service account only with keys of',
    );
  await expect(change({ imagePullSecrets: [{ name: 'a' }, { name: 'b' }] })).rejects.toThrow(
    'the operator may not give Secrets to a service account',
  );
});

test('the operator takes an annotation away that projectSettings.serviceAccountAnnotations does not list any more', async () => {
  const { namespace = '', name } = poolServiceAccount(BOUNDED).metadata;
  const withRole = poolServiceAccount(BOUNDED, { 'example.com/role': 'reader', [ROLE]: 'arn' });
  // Applied as the operator did while the list was longer, by the same field manager.
  await admin.apply(serviceAccounts, withRole, { fieldManager: 'windlass' });
  const byHand = { metadata: { annotations: { 'example.com/note': 'kept' } } };
  await admin.patch(serviceAccounts, { namespace, name }, byHand, { type: 'merge' });
  const { metadata } = await operator.apply(serviceAccounts, poolServiceAccount(BOUNDED, { [ROLE]: 'arn' }));
  expect(metadata.annotations).toEqual({ [ROLE]: 'arn', 'example.com/note': 'kept' });
});

test('the operator goes on writing a Secret that others have labelled', async () => {
  const { resource, manifest } = (await writesIn(BOUNDED)).poolSecret;
  await operator.apply(resource, manifest);
  const { name, namespace } = { ...manifest.metadata, namespace: BOUNDED };
  const byHand = { metadata: { labels: { team: 'office' }, annotations: { 'example.com/note': 'kept' } } };
  await admin.patch(resource, { name, namespace }, byHand, { type: 'merge', fieldManager: 'kubectl' });
  const { metadata } = await operator.apply(resource, manifest);
  expect(metadata).toMatchObject(byHand.metadata);
});

test('a container that somebody adds to a pool keeps the operator from writing it, until it is gone', async () => {
  const { resource, manifest } = (await writesIn(BOUNDED)).runners;
  await operator.apply(resource, manifest);
  const ref = { name: manifest.metadata.name, namespace: BOUNDED };
  const pod = (containers: object[]) => ({ spec: { template: { spec: { containers } } } });
  const byHand = (containers: object[]) =>
    admin.patch(resource, ref, pod(containers), { type: 'strategic', fieldManager: 'kubectl' });
  await byHand([{ name: 'sidecar', image: 'example.com/sidecar' }]);
  await expect(operator.apply(resource, manifest)).rejects.toThrow('one container in each pod');
  await byHand([{ name: 'sidecar', $patch: 'delete' }]);
  await operator.apply(resource, manifest);
});

test('the operator starts no run, deletes none that goes on, and no revision of others', async () => {
  const metadata = { name: 'one', namespace: PROJECT };
  const run = await admin.create(workflowRuns, { metadata, spec: { workflow: 'report' } });
  const second = { metadata: { ...metadata, name: 'two' }, spec: { workflow: 'report' } };
  await expect(operator.create(workflowRuns, second)).rejects.toThrow(
    'the operator may not create WorkflowRuns',
  );
  await expect(operator.delete(workflowRuns, metadata)).rejects.toThrow('only runs that have ended');
  const status = { ...run.status, phase: 'Failed' as const };
  await admin.patch(workflowRuns, metadata, { status }, { type: 'merge', subresource: 'status' });
  expect(await operator.delete(workflowRuns, metadata)).toBe(true);
  await admin.create(controllerRevisions, { metadata, revision: 1, data: {} });
  await expect(operator.delete(controllerRevisions, metadata)).rejects.toThrow('that a Workflow owns');
});

test('of a run the operator removes the input, and gives it labels and its workflow as owner, and changes nothing else', async () => {
  const ref = { name: 'ended', namespace: PROJECT };
  await admin.create(workflowRuns, {
    metadata: { ...ref, labels: { kept: 'yes' }, annotations: { note: 'kept', [LAST_APPLIED]: '{}' } },
    spec: { workflow: 'orders', input: { data_content: { card: '4111' } } },
  });
  await admin.apply(workflowRuns, { metadata: ref, status: { phase: 'Failed' } }, { subresource: 'status' });
  const change = (patch: object) =>
    operator.patch(workflowRuns, ref, patch, { type: 'merge' }).then(
      () => 'changed',
      (error: Error) => error.message,
    );
  const refused = 'the operator may remove the input of a run, label it, and make its workflow its owner';
  await pollUntil(
    'the policy in effect',
    async () => (await change({ spec: { cancel: true } })).includes(refused),
    {
      timeoutMs: 20_000,
    },
  );
  const annotations = [{ a: 'b' }, { note: null }, { [LAST_APPLIED]: '{"a":1}' }].map((each) => ({
    annotations: each,
  }));
  for (const metadata of [{ labels: { a: 'b' } }, ...annotations, { finalizers: ['a.b/c'] }])
    expect(await change({ metadata })).toContain(refused);
  const owner = { apiVersion: 'windlass.dev/v1alpha1', kind: 'Workflow', name: 'orders', uid: 'uid-1' };
  for (const other of [
    { ...owner, name: 'mails' },
    { ...owner, apiVersion: 'v1', kind: 'Secret' },
  ])
    expect(await change({ metadata: { ownerReferences: [other] } })).toContain(refused);
  expect(await change({ metadata: { labels: { kept: null } } })).toContain(refused);
  const adopted = { labels: { 'windlass.dev/workflow': 'orders' }, ownerReferences: [owner] };
  expect(await change({ metadata: adopted })).toBe('changed');
  expect(await change({ metadata: { ownerReferences: null } })).toContain(refused);
  const marks = {
    'windlass.dev/data-removed': 'now',
    'windlass.dev/partial-input': 'true',
    [LAST_APPLIED]: null,
  };
  const spec = { input: null, inputRedacted: true, inputTruncated: true };
  expect(await change({ metadata: { annotations: marks }, spec })).toBe('changed');
});

type Call = { method: string; path: string; body?: object; headers?: Record<string, string> };

/** The name of the FlowSchema under which the API server took the request. */
async function flowSchemaOf(
  token: string | undefined,
  { method, path, body, headers }: Call,
): Promise<string> {
  const { cert, key } = server.connection.auth;
  const options = {
    method,
    ca: server.connection.ca,
    agent: false as const,
    ...(token === undefined && { cert, key }),
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      'content-type': method === 'PATCH' ? 'application/json-patch+json' : 'application/json',
      ...headers,
    },
  };
  const uid = await new Promise((resolve, reject) => {
    const sent = request(server.url + path, options, (response) => {
      response.resume();
      resolve(response.headers['x-kubernetes-pf-flowschema-uid']);
    });
    sent.on('error', reject);
    sent.end(body && JSON.stringify(body));
  });
  const list = (await admin.raw('GET', '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas')) as {
    items: KubeObject[];
  };
  return list.items.find(({ metadata }) => metadata.uid === uid)?.metadata.name ?? 'none';
}

test('what runners record and the gateway asks goes through a level of its own, and nobody else does', async () => {
  const [runner, gateway, operator] = await Promise.all([
    tokenOf(admin, PROJECT, 'windlass-runner'),
    tokenOf(admin, SYSTEM, 'windlass-gateway'),
    tokenOf(admin, SYSTEM, 'windlass-operator'),
  ]);
  const person = { 'impersonate-user': 'jane', 'impersonate-group': 'system:authenticated' };
  const record: Call = { method: 'POST', path: RUNS, body: {} };
  await pollUntil(
    'the schemas in effect',
    async () => (await flowSchemaOf(runner, record)) === 'windlass-runners',
    { timeoutMs: 20_000 },
  );
  expect(await flowSchemaOf(runner, { method: 'PATCH', path: `${RUNS}/one/status`, body: [] })).toBe(
    'windlass-runners',
  );
  const review = '/apis/authentication.k8s.io/v1/tokenreviews';
  expect(await flowSchemaOf(gateway, { method: 'POST', path: review, body: {} })).toBe('windlass-gateway');
  const access = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
  expect(await flowSchemaOf(gateway, { method: 'POST', path: access, body: {} })).toBe('windlass-gateway');
  expect(await flowSchemaOf(operator, record)).toBe('windlass-operator');
  expect(await flowSchemaOf(undefined, { ...record, headers: person })).toBe('global-default');
  expect(await flowSchemaOf(undefined, { method: 'GET', path: RUNS, headers: person })).toBe(
    'global-default',
  );
  // Its Lease and its routes are what others wait for.
  const lease = `/apis/coordination.k8s.io/v1/namespaces/${SYSTEM}/leases/one`;
  expect(await flowSchemaOf(gateway, { method: 'DELETE', path: lease })).not.toBe('windlass-gateway');
});

test('the level is limited, and lends more than it borrows', async () => {
  const path = '/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations/windlass';
  expect(await admin.raw('GET', path)).toMatchObject({
    spec: {
      type: 'Limited',
      limited: { nominalConcurrencyShares: 10, limitResponse: { type: 'Queue' }, borrowingLimitPercent: 50 },
    },
  });
});

test('a user of one project has no rights in another by an account of the same name', async () => {
  const stranger = await createUser(admin, server.connection, {
    namespace: 'other',
    name: 'windlass-runner',
    rules: poolRole('other', ['smtp']).rules ?? [],
  });
  const user = 'system:serviceaccount:other:windlass-runner';
  expect(await allowed(user, secrets(READ, ['smtp', 'llm'], [PROJECT]))).toEqual([]);
  await stranger.close();
});
