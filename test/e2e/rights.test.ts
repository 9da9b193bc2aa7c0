/**
 * Rights granted are rights used: what the programs may do, against what the API server wrote down that they
 * did. And what people may do, by the roles that every cluster
 * has.
 */
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createClient } from '../../kube/client.ts';
import { kubeconfigConnection } from '../../kube/config.ts';
import { windlassNamespace } from '../support/installation/install.ts';
import { getJson } from '../support/cluster/kubectl.ts';
import { isAllowed } from '../support/cluster/users.ts';
import { pollUntil } from '../support/time/poll.ts';
import {
  describeRight,
  grantedTo,
  unused,
  usedBy,
  wildcards,
  type RbacObject,
  type Right,
} from '../support/rights/rights.ts';
import {
  apply,
  cluster,
  condition,
  createProject,
  exampleObjects,
  gateway,
  kube,
  removeProject,
  runInPhase,
  send,
  workflowOf,
  postWebhook,
} from './environment.ts';

const ACCOUNTS = ['windlass-operator', 'windlass-gateway', 'windlass-runner'] as const;
const SOON = { timeoutMs: 100_000 };
/** So that records are taken away. */
const HISTORY = { history: { succeeded: 2 } };

const FOR_RUNNERS = 'held so that it can be granted to runners';
const BY_ADMISSION = 'asked about by the admission policy, which the audit log does not show';

const STALE = 'for what was written a moment ago and has not come by the watch yet';

const FOR_EVALUATIONS = 'for Evaluations: see evaluations.test.ts';
const FOR_ACCOUNTS =
  'for accounts that a person connects at a provider, who is not here: see connect.test.ts';

/** Rights that these tests need not use, and why they are there all the same. */
const EXCEPTIONS: Record<(typeof ACCOUNTS)[number], Record<string, string>> = {
  'windlass-operator': {
    'create workflows.windlass.dev/execute': FOR_RUNNERS,
    'create workflowruns.windlass.dev': FOR_RUNNERS,
    'get credentials.windlass.dev': STALE,
    'get projectsettings.windlass.dev': STALE,
    'get evaluations.windlass.dev': STALE,
    'patch evaluations.windlass.dev/status': FOR_EVALUATIONS,
    'get configmaps': FOR_EVALUATIONS,
    'delete workflowdrafts.windlass.dev':
      'for drafts that nobody has changed for 14 days: see operator/activation.test.ts',
    'patch workflowruns.windlass.dev':
      'for history.dataTTL, which removes the data of ended runs: see accounts.test.ts',
    'patch credentials.windlass.dev': 'for bots that are registered: see registrations.test.ts',
    'patch secrets windlass-tokens': FOR_ACCOUNTS,
    'patch secrets windlass-refresh-tokens': FOR_ACCOUNTS,
    'get cronjobs.batch': STALE,
    'get deployments.apps': STALE,
    'get webhookroutes.windlass.dev': STALE,
  },
  'windlass-gateway': { 'get credentials.windlass.dev': FOR_ACCOUNTS },
  'windlass-runner': {
    'create workflows.windlass.dev/execute': BY_ADMISSION,
    'get workflowruns.windlass.dev': 'to tell a record of its own from an object that only has the same name',
  },
};

let project: string;
let granted: Record<string, Right[]>;

beforeAll(async () => {
  project = await createProject();
  granted = await doEverything();
});
afterAll(() => removeProject(project));

/**
 * Whatever needs a right: a workflow with credentials that is called, asked about and taken away. Returns
 * what is granted meanwhile.
 */
async function doEverything(): Promise<Record<string, Right[]>> {
  const accounts = await exampleObjects('order-confirmation', 'accounts.yaml');
  const bearer = { secretRefs: [{ name: 'order-accounts', key: 'model-api-key' }] };
  const nodesWith = (prompt: string) => [
    { id: 'call', webhook: { path: 'new', auth: { bearer } } },
    { id: 'ask', agent: { credential: 'order-model', model: 'demo', prompt } },
    { id: 'answer', response: { body: 'done' } },
  ];
  await apply(project, ...accounts, PROJECT_SETTINGS, workflowOf('rights', nodesWith('Hello'), HISTORY));
  await condition(project, 'workflows.windlass.dev/rights', 'Ready', { status: 'True' });
  const called = await postWebhook(project, 'rights', 'new', {}, { authorization: 'Bearer demo-key' });
  expect(called.status).toBe(200);
  const run = await startOverHttp();
  await useSchedule();
  await apply(project, runOf('by-object'));
  await runInPhase(project, 'by-object', 'Succeeded');
  // Nobody but the operator says that a run waits for its workflow.
  await apply(project, runOf('early', 'not-there-yet'));
  await runInPhase(project, 'early', 'Pending');
  await askAboutRuns(run);
  const before = await grantedToAll();
  // More revisions than are kept.
  for (let generation = 2; generation <= 13; generation += 1) {
    // At last without `auth`: what callers were verified with is taken out.
    const nodes =
      generation < 13 ? nodesWith(`prompt ${generation}`) : [{ id: 'call', webhook: { path: 'new' } }];
    await apply(project, workflowOf('rights', nodes, HISTORY));
    const seen = `--for=jsonpath={.status.observedGeneration}=${generation}`;
    await kube(['wait', '-n', project, 'workflows.windlass.dev/rights', seen, '--timeout=150s']);
  }
  await kube(['delete', '-n', project, 'workflowrun', '--all']);
  await kube(['delete', '-n', project, 'workflows.windlass.dev', '--all']);
  await pollUntil('the pool gone', async () => (await poolObjects()) === '', SOON);
  const gateways = `get pods -n ${windlassNamespace} -l app.kubernetes.io/component=gateway -o name`;
  const [pod = ''] = (await kube(gateways.split(' '))).split('\n');
  await kube(['delete', '-n', windlassNamespace, pod]);
  return before;
}

/** A CronJob is made, changed and removed. */
async function useSchedule(): Promise<void> {
  const daily = (hour: number) => [{ id: 'trigger', schedule: { cron: `0 ${hour} * * *` } }];
  for (const hour of [1, 2]) {
    await apply(project, workflowOf('daily', daily(hour)));
    await condition(project, 'workflows.windlass.dev/daily', 'Ready', { status: 'True' });
  }
}

async function poolObjects(): Promise<string> {
  const pool = `get deployments,roles,networkpolicies -n ${project} -l app.kubernetes.io/name=windlass-runner -o name`;
  return (await kube(pool.split(' '))).trim();
}

const runOf = (name: string, workflow = 'rights') => ({
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'WorkflowRun',
  metadata: { name },
  spec: { workflow },
});

const PROJECT_SETTINGS = {
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'ProjectSettings',
  metadata: { name: 'default' },
  // With one replica there is no PodDisruptionBudget.
  spec: { runners: { replicas: 2 } },
};

const address = (rest: string) => `${gateway.internalURL}/workflows/${project}.rights/${rest}`;

/** As one who may execute and see: the gateway asks who it is, and what it may do. */
async function startOverHttp(): Promise<string> {
  await kube(['create', 'serviceaccount', 'caller', '-n', project]);
  for (const role of ['windlass-execute', 'windlass-view']) {
    const subject = `--serviceaccount=${project}:caller`;
    await kube(['create', 'rolebinding', role, '-n', project, `--clusterrole=${role}`, subject]);
  }
  const started = await send('POST', address('execute'), {}, await asCaller());
  expect(started.status).toBe(202);
  const { run } = JSON.parse(started.text) as { run: string };
  await runInPhase(project, run, 'Succeeded');
  return run;
}

const asCaller = async () => ({
  authorization: `Bearer ${(await kube(['create', 'token', 'caller', '-n', project])).trim()}`,
});

/** When the run store holds it no more, there are records to read. */
async function askAboutRuns(run: string): Promise<void> {
  const caller = await asCaller();
  const used = () => auditLines().then((lines) => usedBy('windlass-gateway', lines).map(describeRight));
  await pollUntil(
    'the record being read',
    async () => {
      expect((await send('GET', address(`runs/${run}`), undefined, caller)).status).toBe(200);
      return (await used()).some((right) => right.startsWith('get workflowruns'));
    },
    { ...SOON, everyMs: 1_000 },
  );
  expect((await send('GET', address('runs'), undefined, caller)).status).toBe(200);
}

async function grantedToAll(): Promise<Record<string, Right[]>> {
  const kinds = 'clusterroles,clusterrolebindings,roles,rolebindings';
  const { items } = await getJson<{ items: RbacObject[] }>(cluster, kinds, '-A');
  return Object.fromEntries(ACCOUNTS.map((account) => [account, grantedTo(account, items)]));
}

/** The lines of the log, those of rotated files included. */
async function auditLines(): Promise<string[]> {
  const path = cluster.auditLog;
  if (path === undefined) throw new Error('this cluster writes no audit log: take the built-in one');
  const stem = basename(path, '.log');
  const files = (await readdir(dirname(path))).filter(
    (name) => name.startsWith(stem) && name.endsWith('.log'),
  );
  const texts = await Promise.all(files.map((name) => readFile(join(dirname(path), name), 'utf8')));
  return texts.flatMap((text) => text.split('\n').filter((line) => line.endsWith('}')));
}

async function unusedBy(account: (typeof ACCOUNTS)[number]): Promise<string[]> {
  const rights = granted[account] ?? [];
  const left = unused(rights, usedBy(account, await auditLines())).map(describeRight);
  return left.filter((right) => !(right in EXCEPTIONS[account])).toSorted();
}

test.each(ACCOUNTS)('%s has used each of its rights, and none has a wildcard', async (account) => {
  expect(granted[account]?.length).toBeGreaterThan(3);
  expect(wildcards(granted[account] ?? [])).toEqual([]);
  // A gateway that goes deletes its Lease when it has waited for its callers.
  await pollUntil('every right used', async () => (await unusedBy(account)).length === 0, SOON).catch(
    () => undefined,
  );
  expect(await unusedBy(account)).toEqual([]);
});

test.each(ACCOUNTS)('each exception of %s is a right that it has', (account) => {
  const names = (granted[account] ?? []).map(describeRight);
  expect(Object.keys(EXCEPTIONS[account]).filter((right) => !names.includes(right))).toEqual([]);
});

type Question = [verb: string, resource: string];
const QUESTIONS: Question[] = [
  ['get', 'workflows.windlass.dev'],
  ['create', 'workflows.windlass.dev'],
  ['create', 'credentials.windlass.dev'],
  ['use', 'credentials.windlass.dev'],
  ['create', 'workflowruns.windlass.dev'],
  ['patch', 'workflowruns.windlass.dev'],
  ['create', 'workflows.windlass.dev/execute'],
  ['get', 'webhookroutes.windlass.dev'],
  ['create', 'webhookroutes.windlass.dev'],
  ['patch', 'workflowruns.windlass.dev/status'],
  ['patch', 'workflows.windlass.dev/status'],
  ['get', 'projectsettings.windlass.dev'],
  ['create', 'projectsettings.windlass.dev'],
  ['patch', 'projectsettings.windlass.dev'],
  ['get', 'workflowdrafts.windlass.dev'],
  ['patch', 'workflowdrafts.windlass.dev'],
];
const SETTINGS = 'projectsettings.windlass.dev';
const READS = ['get workflows.windlass.dev', 'get webhookroutes.windlass.dev', `get ${SETTINGS}`];
const WRITES = [
  'get workflows.windlass.dev',
  'create workflows.windlass.dev',
  'create credentials.windlass.dev',
  'use credentials.windlass.dev',
  'create workflowruns.windlass.dev',
  'patch workflowruns.windlass.dev',
  'create workflows.windlass.dev/execute',
  'get webhookroutes.windlass.dev',
  `get ${SETTINGS}`,
  'get workflowdrafts.windlass.dev',
  'patch workflowdrafts.windlass.dev',
];

test.each([
  ['view', READS],
  ['edit', WRITES],
  ['admin', WRITES],
  ['windlass-execute', ['create workflows.windlass.dev/execute']],
  ['windlass-project-admin', [`get ${SETTINGS}`, `create ${SETTINGS}`, `patch ${SETTINGS}`]],
])('who has the role %s may do this and nothing else with Windlass', async (role, rights) => {
  const user = `rights-${role}`;
  await kube(['create', 'rolebinding', user, '-n', project, `--clusterrole=${role}`, `--user=${user}`]);
  const client = createClient(await kubeconfigConnection(cluster.kubeconfigPath));
  onTestFinished(() => client.close());
  const may = async ([verb, full]: Question): Promise<string[]> => {
    const [resource = '', ...group] = full.replace(/\/.*/, '').split('.');
    const asked = full.replace(/^[^/]*/, resource);
    const rule = { apiGroups: [group.join('.')], resources: [asked], verbs: [verb] };
    return (await isAllowed(client, { user, namespace: project }, rule)) ? [`${verb} ${full}`] : [];
  };
  // The API server learns of the binding a moment after it has stored it.
  const allowed = async () => (await Promise.all(QUESTIONS.map(may))).flat();
  await expect.poll(allowed, { timeout: SOON.timeoutMs }).toEqual(rights);
});
