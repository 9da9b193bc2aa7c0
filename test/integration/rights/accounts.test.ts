/** What the accounts of the programs may do, with the chart's roles and policies on a real API server. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import {
  leases,
  namespacedResource,
  namespaces,
  roleBindings,
  roles,
  serviceAccounts,
  subjectAccessReviews,
  type KubeObject,
} from '../../../kube/resource.ts';
import { poolRole, poolRoleBinding, poolServiceAccount } from '../../../operator/project/manifests.ts';
import type { ApiServer } from '../../support/cluster/apiserver.ts';
import { sharedApiServer } from '../../support/cluster/sharedApiServer.ts';
import { ADMISSION, applyChart } from '../../support/cluster/chart.ts';
import { installCrds } from '../../support/cluster/crds.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { connectionOf, createUser, tokenOf } from '../../support/cluster/users.ts';
import { testFlowControl } from './accounts/flowControl.ts';
import { BOUNDED, PROJECT, SYSTEM, VALUES } from './accounts/harness.ts';
import { testOperatorWrites } from './accounts/operatorWrites.ts';

const OPERATOR = `system:serviceaccount:${SYSTEM}:windlass-operator`;
const GATEWAY = `system:serviceaccount:${SYSTEM}:windlass-gateway`;
const RUNNER = `system:serviceaccount:${PROJECT}:windlass-runner`;
const pods = namespacedResource<KubeObject>('', 'v1', 'Pod', 'pods');

let server: ApiServer;
let admin: KubeClient;
let operator: KubeClient;

beforeAll(async () => {
  server = await sharedApiServer();
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

testOperatorWrites(() => ({ server, admin, operator }));
testFlowControl(() => ({ server, admin, operator }));
