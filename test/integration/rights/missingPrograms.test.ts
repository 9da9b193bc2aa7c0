/**
 * Gateway and runner without a right that they are given: they say which one, end nothing, and go on when
 * they have it.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import {
  namespaces,
  roleBindings,
  roles,
  secrets,
  serviceAccounts,
  type PolicyRule,
  type Resource,
  type Role,
} from '../../../kube/resource.ts';
import { poolRole, poolRoleBinding, poolServiceAccount } from '../../../operator/project/manifests.ts';
import { credentials, workflowRuns } from '../../../operator/shared/resources.ts';
import { connectRunStore, type RunStoreConnection } from '../../../store/connection.ts';
import { openProject } from '../../../runs/project.ts';
import type { RunState } from '../../../runs/types/run.ts';
import type { ApiServer } from '../../support/cluster/apiserver.ts';
import { sharedApiServer } from '../../support/cluster/sharedApiServer.ts';
import { ADMISSION, applyChart } from '../../support/cluster/chart.ts';
import { installCrds } from '../../support/cluster/crds.ts';
import { NAMESPACE, PROJECT, putGithubKey, putRoute } from '../../support/gateway/gatewayHarness.ts';
import { startGateway, type GatewayProcess } from '../../support/gateway/gatewayProcess.ts';
import { startModelServer, type ModelServer } from '../../support/providers/model/modelServer.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { startRedis, type TestRedis } from '../../support/runStore/redis.ts';
import { startRunnerProgram, type RunnerProgram } from '../../support/runner/runnerProgram.ts';
import { openTestProject, type TestProject } from '../../support/runner/runnerProject.ts';
import {
  clusterRoles,
  createUser,
  isAllowed,
  tokenOf,
  writeKubeconfig,
} from '../../support/cluster/users.ts';

const SYSTEM = 'windlass-system';
const SOON = { timeoutMs: 40_000, everyMs: 50 };

let server: ApiServer;
let admin: KubeClient;
let redis: TestRedis;
let conn: RunStoreConnection;
let model: ModelServer;
let project: TestProject;
let caller: string;
let gateway: GatewayProcess | undefined;
const gatewayLog: string[] = [];
let runner: RunnerProgram | undefined;

beforeAll(async () => {
  [server, redis, model] = await Promise.all([
    sharedApiServer(),
    startRedis(),
    startModelServer({ apiKey: 'right' }),
  ]);
  admin = createClient(server.connection, { fieldManager: 'test' });
  await installCrds(admin);
  for (const name of [SYSTEM, NAMESPACE]) await admin.create(namespaces, { metadata: { name } });
  await applyChart(server, SYSTEM, { templates: [...ADMISSION, 'gateway', 'gateway-rbac'] });
  conn = connectRunStore({ url: redis.url, name: 'test' });
  project = await openTestProject(conn);
  await openProject(conn, PROJECT, { quotaBytes: 2 ** 20 });
  await putRoute(admin, 'orders');
  const user = await createUser(admin, server.connection, {
    namespace: NAMESPACE,
    name: 'caller',
    rules: [
      { apiGroups: ['windlass.dev'], resources: ['workflows/execute'], verbs: ['create'] },
      { apiGroups: ['windlass.dev'], resources: ['workflowruns'], verbs: ['get'] },
      { apiGroups: ['windlass.dev'], resources: ['credentials'], verbs: ['update'] },
    ],
  });
  await user.close();
  caller = await tokenOf(admin, NAMESPACE, 'caller');
  for (const [name, secret] of Object.entries({ llm: 'accounts', 'other-llm': 'others' })) {
    const openai = { baseURL: model.baseURL, apiKeyRef: { name: secret, key: 'key' } };
    await admin.create(secrets, {
      metadata: { name: secret, namespace: NAMESPACE },
      data: { key: btoa('right') },
    });
    await admin.create(credentials, { metadata: { name, namespace: NAMESPACE }, spec: { openai } });
  }
  await admin.apply(serviceAccounts, poolServiceAccount(NAMESPACE));
  await admin.apply(roles, RUNNER_ROLE);
  await admin.apply(roleBindings, poolRoleBinding(NAMESPACE));
}, 600_000);

afterAll(async () => {
  await Promise.all([gateway?.stop(), runner?.stop()]);
  await conn?.close();
  await Promise.all([redis?.stop(), model?.close(), admin?.close()]);
  await server?.stop();
});

/** `user`: the account that has it. */
type RoleRef = { resource: Resource<Role>; namespace?: string; name: string; user: string };

/** Takes rules out of the roles, and waits until that is in effect; returns what puts them back. */
async function takeRules(
  roleRefs: RoleRef[],
  isTaken: (rule: PolicyRule, index: number) => boolean,
): Promise<() => Promise<void>> {
  const before = await Promise.all(
    roleRefs.map(async ({ resource, user, ...ref }) => {
      const { rules } = await admin.get(resource, ref);
      return { resource, user, ref, rules };
    }),
  );
  const taken = before.flatMap(({ rules }) => rules).filter(isTaken);
  expect(taken.length).toBeGreaterThan(0);
  const write = async (isKept: (rule: PolicyRule) => boolean): Promise<void> => {
    for (const { resource, ref, rules } of before)
      await admin.patch(resource, ref, { rules: rules.filter(isKept) }, { type: 'merge' });
  };
  await write((rule) => !taken.includes(rule));
  for (const { user, ref, rules } of before)
    for (const rule of rules.filter((each) => taken.includes(each))) {
      const whose = { user, namespace: ref.namespace ?? NAMESPACE };
      await pollUntil('the right being gone', async () => !(await isAllowed(admin, whose, rule)), SOON);
    }
  return () => write(() => true);
}

/** Every rule about the resource. */
function takeAway(role: RoleRef, about: string): Promise<() => Promise<void>> {
  return takeRules([role], ({ resources }) => resources.includes(about));
}

const named = (log: string[], text: string) => () => log.find((line) => line.includes(text));
/** In a line of JSON quotes are escaped. */
const cannot = (verb: string, resource: string) => `cannot ${verb} resource \\"${resource}\\"`;
const warnings = (log: string[]) => log.filter((line) => /"level":"(warn|error)"/.test(line)).length;

const gatewayUser = `system:serviceaccount:${SYSTEM}:windlass-gateway`;
const GATEWAY: RoleRef = { resource: clusterRoles, name: 'windlass-gateway', user: gatewayUser };
const REVIEWS: RoleRef = { resource: clusterRoles, name: 'windlass-gateway-cluster', user: gatewayUser };
const LEASES: RoleRef = { resource: roles, namespace: SYSTEM, name: 'windlass-gateway', user: gatewayUser };

async function startGatewayAs(pod: string, log: string[]): Promise<GatewayProcess> {
  const token = await tokenOf(admin, SYSTEM, 'windlass-gateway');
  const kubeconfigPath = await writeKubeconfig(server, 'gateway', token);
  return startGateway({ kubeconfigPath, redisURL: redis.url, pod, namespace: SYSTEM, log });
}

test('a gateway that starts without the right to list its routes says so, and is ready when it has it', async () => {
  const restoreRights = await takeAway(GATEWAY, 'webhookroutes');
  const starting = startGatewayAs('one', gatewayLog);
  await pollUntil('the lack being named', named(gatewayLog, cannot('list', 'webhookroutes')), SOON);
  expect(warnings(gatewayLog)).toBeLessThan(20);
  await restoreRights();
  gateway = await starting;
}, 60_000);

test('a gateway that starts without the right to its Lease says so, and is ready when it has it', async () => {
  const restoreRights = await takeAway(LEASES, 'leases');
  const log: string[] = [];
  const starting = startGatewayAs('two', log);
  await pollUntil('the lack being named', named(log, cannot('patch', 'leases')), SOON);
  expect(warnings(log)).toBeLessThan(20);
  await restoreRights();
  await (await starting).stop();
}, 60_000);

test.each<[string, RoleRef, string, string, (url: string) => Promise<Response>]>([
  ['ask who callers are', REVIEWS, 'create', 'tokenreviews', execute],
  ['ask what callers may do', REVIEWS, 'create', 'subjectaccessreviews', execute],
  ['read records of runs', GATEWAY, 'get', 'workflowruns', readRun],
  ['read credentials', GATEWAY, 'get', 'credentials', connectCredential],
])(
  'a gateway without the right to %s refuses with 503 and says why in its log',
  async (_what, role, verb, resource, call) => {
    const url = gateway?.internalURL ?? '';
    const restoreRights = await takeAway(role, resource);
    // What it was told before is good for ten seconds.
    const answer = await pollUntil(
      'a refusal',
      async () => {
        const each = await call(url);
        return each.status === 503 && (await each.text());
      },
      SOON,
    );
    expect(answer).not.toMatch(/forbidden|serviceaccount|reviews|workflowruns/i);
    await pollUntil('the lack being named', named(gatewayLog, cannot(verb, resource)), SOON);
    await restoreRights();
    await pollUntil('it being mended', async () => (await call(url)).status < 500, SOON);
  },
  60_000,
);

function execute(url: string): Promise<Response> {
  return fetch(`${url}/workflows/${NAMESPACE}.orders/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${caller}` },
  });
}

function readRun(url: string): Promise<Response> {
  return fetch(`${url}/workflows/${NAMESPACE}.orders/runs/orders-gone`, {
    headers: { authorization: `Bearer ${caller}` },
  });
}

function connectCredential(url: string): Promise<Response> {
  return fetch(`${url}/credentials/${NAMESPACE}.llm/connect`, {
    method: 'POST',
    headers: { authorization: `Bearer ${caller}` },
  });
}

/**
 * What comes of a call that nobody signed: 401 where callers can be verified, 503 where the gateway cannot
 * read with what.
 */
async function unsigned(url: string): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  return (await fetch(`${url}/webhook/${NAMESPACE}.signed/new`, { method: 'POST', headers, body: '{}' }))
    .status;
}

test('a gateway without the right to what verifies callers lets nobody in, says so, and goes on when it has it', async () => {
  const url = gateway?.publicURL ?? '';
  const restoreRights = await takeAway(GATEWAY, 'secrets');
  const before = warnings(gatewayLog);
  await putRoute(admin, 'signed', await putGithubKey(admin, 'signed', 'a key'));
  await pollUntil('the refusal', async () => (await unsigned(url)) === 503, SOON);
  await pollUntil('the lack being named', named(gatewayLog, cannot('get', 'secrets')), SOON);
  expect(warnings(gatewayLog) - before).toBeLessThan(20);
  await restoreRights();
  await pollUntil('callers being verified', async () => (await unsigned(url)) === 401, SOON);
}, 60_000);

const everySecond = (first: number) => (_rule: PolicyRule, index: number) => index % 2 === first;

test.each([
  [0, cannot('list', 'webhookroutes')],
  [1, cannot('get', 'secrets')],
])(
  'a gateway that starts without every second right (from number %i) says so, and serves when it has them',
  async (first, lack) => {
    const restoreRights = await takeRules([GATEWAY, REVIEWS, LEASES], everySecond(first));
    const log: string[] = [];
    const starting = startGatewayAs(`half-${first}`, log);
    await pollUntil('the lack being named', named(log, lack), SOON);
    expect(warnings(log)).toBeLessThan(20);
    await restoreRights();
    const half = await starting;
    await pollUntil('callers being verified', async () => (await unsigned(half.publicURL)) === 401, SOON);
    await half.stop();
  },
  60_000,
);

test('all that the gateway has a right to is taken away here', async () => {
  const of = async ({ resource, user: _user, ...ref }: RoleRef) =>
    (await admin.get(resource, ref)).rules.flatMap(({ resources }) => resources);
  const all = await Promise.all([GATEWAY, REVIEWS, LEASES].map(of));
  expect(all.flat().toSorted()).toEqual([
    'credentials',
    'leases',
    'secrets',
    'subjectaccessreviews',
    'tokenreviews',
    'webhookroutes',
    'workflowruns',
  ]);
});

const RUNNER_ROLE = poolRole(NAMESPACE, ['accounts', 'others']);
const POOL: RoleRef = {
  resource: roles,
  namespace: NAMESPACE,
  name: 'windlass-runner',
  user: `system:serviceaccount:${NAMESPACE}:windlass-runner`,
};

const nodesOf = (credential: string) => [
  { id: 'call', webhook: { path: 'orders' } },
  { id: 'ask', agent: { credential, model: 'demo', prompt: 'Hello' } },
];

async function execution(credential: string): Promise<RunState> {
  const run = await project.send(await project.deploy(nodesOf(credential)), {});
  return project.ended(run);
}

async function startRunner(): Promise<RunnerProgram> {
  const token = await tokenOf(admin, NAMESPACE, 'windlass-runner');
  return startRunnerProgram({
    kubeconfigPath: await writeKubeconfig(server, 'runner', token),
    redisURL: redis.url,
    namespace: NAMESPACE,
    project: project.uid,
    env: { EGRESS_ALLOW: '127.0.0.0/8' },
  });
}

test('a runner that starts without the right to read credentials claims nothing before it has it', async () => {
  const restoreRights = await takeAway(POOL, 'credentials');
  runner = await startRunner();
  const run = await project.send(await project.deploy(nodesOf('llm')), {});
  await pollUntil('the lack being named', named(runner.log, cannot('list', 'credentials')), SOON);
  expect((await fetch(`${runner.url}/readyz`)).status).toBe(503);
  expect(warnings(runner.log)).toBeLessThan(20);
  await restoreRights();
  expect(await project.ended(run)).toMatchObject({ phase: 'Succeeded' });
}, 60_000);

const phaseOfRecord = async (run: string): Promise<string | undefined> => {
  const object = await admin.find(workflowRuns, { namespace: NAMESPACE, name: run });
  return object?.status?.phase;
};

test.each<[string, string, string]>([
  ['make records', 'workflowruns', cannot('create', 'workflowruns')],
  ['write into records', 'workflowruns/status', 'lacks the right to patch workflowruns/status'],
  ['execute workflows', 'workflows/execute', 'lacks the right to create workflows/execute'],
])(
  'runners without the right to %s execute all the same, say so, and record when they have it',
  async (_what, about, lack) => {
    const log = runner?.log ?? [];
    const restoreRights = await takeAway(POOL, about);
    const before = warnings(log);
    const { run, phase } = await execution('llm');
    expect(phase).toBe('Succeeded');
    await pollUntil('the lack being named', named(log, lack), SOON);
    expect(warnings(log) - before).toBeLessThan(20);
    expect(runner?.isRunning()).toBe(true);
    await restoreRights();
    await pollUntil('its record', async () => (await phaseOfRecord(run)) === 'Succeeded', SOON);
  },
  60_000,
);

test('a runner without the right to a Secret fails the step, names the Secret in its log, and reads it when it may', async () => {
  const log = runner?.log ?? [];
  const restoreRights = await takeAway(POOL, 'secrets');
  const failed = await execution('other-llm');
  expect(failed).toMatchObject({ phase: 'Failed' });
  expect(JSON.stringify(failed)).toContain('cannot read a Secret of the Credential other-llm now');
  const line = await pollUntil('the lack being named', named(log, cannot('get', 'secrets')), SOON);
  expect(line).toContain('"secret":"others"');
  await restoreRights();
  await pollUntil(
    'a run that succeeds',
    async () => (await execution('other-llm')).phase === 'Succeeded',
    SOON,
  );
}, 60_000);

test.each([
  [0, cannot('list', 'credentials')],
  [1, cannot('create', 'workflowruns')],
])(
  'a runner that starts without every second right (from number %i) says so, and executes and records when it has them',
  async (first, lack) => {
    await runner?.stop();
    const restoreRights = await takeRules([POOL], everySecond(first));
    runner = await startRunner();
    const run = await project.send(await project.deploy(nodesOf('llm')), {});
    await pollUntil('the lack being named', named(runner.log, lack), SOON);
    expect(warnings(runner.log)).toBeLessThan(20);
    expect(runner.isRunning()).toBe(true);
    await restoreRights();
    await pollUntil('its record', async () => (await phaseOfRecord(run)) === 'Succeeded', SOON);
  },
  60_000,
);
