/** Starting workflows by hand: over HTTP with a token that RBAC judges, and as an object. */
import { stringify } from 'yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { windlass } from '../support/cli/line.ts';
import { createCommandLineUser } from '../support/installation/commandLineUser.ts';
import { applyManifest, waitForReady } from '../support/installation/install.ts';
import { liveEvents } from '../support/installation/installedGateway.ts';
import {
  apply,
  cluster,
  createProject,
  gateway,
  kube,
  removeProject,
  runInPhase,
  send,
  workflowOf,
} from './environment.ts';

const nodes = [
  { id: 'trigger', manual: { testData: { name: 'Test' } } },
  { id: 'greeting', response: { body: "Hello, {{ $('trigger').data_content.name }}!" } },
];
let project: string;
let allowed: string;
let stranger: string;

beforeAll(async () => {
  project = await createProject();
  for (const account of ['allowed', 'stranger'])
    await kube(['create', 'serviceaccount', account, '-n', project]);
  await applyManifest(
    cluster,
    stringify({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'execute', namespace: project },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'windlass-execute' },
      subjects: [{ kind: 'ServiceAccount', name: 'allowed', namespace: project }],
    }),
  );
  const token = async (account: string) => (await kube(['create', 'token', account, '-n', project])).trim();
  [allowed, stranger] = [await token('allowed'), await token('stranger')];
  await apply(project, workflowOf('hello', nodes), workflowOf('asleep', nodes, { active: false }));
  for (const name of ['hello', 'asleep']) await waitForReady(cluster, name, project);
});
afterAll(() => removeProject(project));

const address = (workflow: string, rest = 'execute') =>
  `${gateway.internalURL}/workflows/${project}.${workflow}/${rest}`;
const execute = (
  workflow: string,
  token: string | undefined,
  query = '',
  headers: Record<string, string> = {},
) =>
  send('POST', `${address(workflow)}${query}`, query ? undefined : { name: 'Ada' }, {
    ...(token ? { authorization: `Bearer ${token}` } : {}),
    ...headers,
  });

test('with a token that may, a run starts, and its address and outputs are told', async () => {
  const started = await execute('hello', allowed);
  expect(started.status).toBe(202);
  const { run } = JSON.parse(started.text) as { run: string };
  expect(started.headers.location).toBe(`/workflows/${project}.hello/runs/${run}`);
  const done = await runInPhase(project, run, 'Succeeded');
  expect(done.spec.trigger?.type).toBe('execute');
  expect(done.status?.nodes?.[0]?.output).toEqual({ text_content: '', data_content: { name: 'Ada' } });

  const awaited = await execute('hello', allowed, '', { prefer: 'wait=20' });
  expect(awaited.status).toBe(200);
  expect(JSON.parse(awaited.text)).toMatchObject({
    phase: 'Succeeded',
    nodes: [{ id: 'trigger' }, { id: 'greeting' }],
  });
});

test.each([
  ['without a token', 'hello', 'nobody', '', 401],
  ['with a token of nobody', 'hello', 'forged', '', 401],
  ['with a token that RBAC does not allow', 'hello', 'stranger', '', 403],
  ['an unknown workflow', 'nothing', 'allowed', '', 404],
  ['an inactive workflow', 'asleep', 'allowed', '', 409],
  ['a test run of an inactive workflow', 'asleep', 'allowed', '?test=true', 202],
] as const)('%s is answered as the table says', async (_what, workflow, caller, query, status) => {
  const tokens = { nobody: undefined, forged: 'eyJhbGciOiJub25lIn0.e30.x', stranger, allowed };
  const answer = await execute(workflow, tokens[caller], query);
  expect([answer.status, answer.text]).toEqual([status, expect.any(String)]);
});

test('an object with test: true runs an inactive workflow with its test data', async () => {
  const run = {
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'WorkflowRun',
    metadata: { name: 'by-hand' },
    spec: { workflow: 'asleep', test: true },
  };
  await kube(['create', '-n', project, '-f', '-'], { input: stringify(run) });
  const { status } = await runInPhase(project, 'by-hand', 'Succeeded');
  expect(status?.nodes?.[0]?.output).toEqual({ text_content: '', data_content: { name: 'Test' } });
});

test('live events tell a run from its start to its end, also to one who comes later', async () => {
  const { run } = JSON.parse((await execute('hello', allowed)).text) as { run: string };
  await runInPhase(project, run, 'Succeeded');
  const events = [];
  for await (const event of liveEvents(address('hello', `runs/${run}/events`), allowed)) events.push(event);
  expect(events.at(-1)).toMatchObject({ type: 'run', phase: 'Succeeded' });
  expect(events).toContainEqual(
    expect.objectContaining({ type: 'node', node: 'greeting', phase: 'Succeeded' }),
  );
});

test('the command line starts a run, follows it live through the API server, cancels it, and finds no fault', async () => {
  const pause = { id: 'pause', wait: { duration: '10m' } };
  await apply(project, workflowOf('pauses', [...nodes.slice(0, 1), pause]));
  await waitForReady(cluster, 'pauses', project);
  const user = await createCommandLineUser(cluster, { project, account: 'allowed', token: allowed });
  try {
    const line = (...words: string[]) =>
      windlass([...words, '-n', project], { kubeconfig: [user.kubeconfig] });
    expect(await line('run', 'hello', '--test', '--wait')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/✓ greeting\n(.|\n)*Hello, Test!(.|\n)*run Succeeded/) as string,
    });
    const { stdout } = await line('run', 'pauses', '-o', 'name');
    const run = stdout.trim().replace(/^.*\//, '');
    const following = line('logs', run, '-f');
    await runInPhase(project, run, 'Waiting');
    expect(await line('cancel', run, '--wait')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^run Cancelled\b/) as string,
    });
    expect(await following).toMatchObject({
      code: 1,
      stderr: '',
      stdout: expect.stringMatching(/ … pause\n(.|\n)* run Cancelled/) as string,
    });
    expect(await line('status')).toMatchObject({ code: 0, stdout: '' });
    expect(await line('doctor')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /✓ rights(.|\n)*✓ windlass-gateway: \d of \d pods(.|\n)*✓ versions(.|\n)*✓ run-store/,
      ) as string,
    });
  } finally {
    await user.remove();
  }
});
