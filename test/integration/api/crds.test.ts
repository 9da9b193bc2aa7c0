/**
 * What the API server itself refuses, and with which words: the first answer that a person gets to a mistake.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { KubeClient } from '../../../kube/client.ts';
import { createClient } from '../../../kube/client.ts';
import { namespaces } from '../../../kube/resource.ts';
import { workflowRuns } from '../../../operator/shared/resources.ts';
import type { ApiServer } from '../../support/cluster/apiserver.ts';
import { sharedApiServer } from '../../support/cluster/sharedApiServer.ts';
import { installCrds, removeRules } from '../../support/cluster/crds.ts';
import { applyWithKubectl, kubectl } from '../../support/cluster/kubectl.ts';
import { createObjectApplier, type ObjectApplier } from '../../support/cluster/objectApplier.ts';
import { pollUntil } from '../../support/time/poll.ts';
import {
  ref,
  REFUSED_CREDENTIALS,
  REFUSED_PROJECT_SETTINGS,
  REFUSED_STATUSES,
  running,
} from './refused/others.ts';
import {
  failing,
  call,
  REFUSED_DURATIONS,
  REFUSED_WORKFLOWS,
  step,
  trigger,
  workflow,
} from './refused/workflows.ts';

const examples = join(import.meta.dirname, '../../../examples');

let server: ApiServer;
let client: KubeClient;
let applier: ObjectApplier;
let namespace: string;
let count = 0;

beforeAll(async () => {
  server = await sharedApiServer();
  client = createClient(server.connection);
  applier = createObjectApplier(server);
}, 600_000);

afterAll(async () => {
  await applier?.close();
  await client?.close();
  await server?.stop();
});

beforeEach(async () => {
  namespace = `crds-${(count += 1)}`;
  await client.create(namespaces, { metadata: { name: namespace } });
});

const manifestOf = (kind: string, spec: unknown, name = 'one'): string =>
  stringify({ apiVersion: 'windlass.dev/v1alpha1', kind, metadata: { name }, spec });

/** Applies a new object: its refusal in kubectl's sentences, or that it was created. */
const apply = (kind: string, spec: unknown, name?: string): Promise<string> =>
  applier.create(manifestOf(kind, spec, name), { namespace });

/** What kubectl says when it applies the object, which may exist and gets the annotation of an apply. */
const kubectlApply = (kind: string, spec: unknown): Promise<string> =>
  applyWithKubectl(server, manifestOf(kind, spec), { namespace });

test('a workflow with forward edges is admitted, inactive by default, and not ready before the operator has looked', async () => {
  expect(await kubectlApply('Workflow', workflow(['trigger', 'a'], ['trigger', 'b'], ['a', 'b']))).toContain(
    'created',
  );
  const shown = await kubectl(server, ['-n', namespace, 'get', 'wlf', 'one', '-o', 'json']);
  expect(JSON.parse(shown)).toMatchObject({
    spec: { active: false },
    status: { conditions: [{ type: 'Ready', status: 'Unknown', reason: 'Pending' }] },
  });
});

test.each([4, 30, 63])('the largest workflow is admitted with node IDs of %i characters', async (length) => {
  const ids = Array.from({ length: 99 }, (_, index) => `n${index}`.padEnd(length, '_'));
  const pairs = ids.flatMap((from, index) => ids.slice(index + 1, index + 5).map((to) => ({ from, to })));
  const edges = [{ from: 'trigger', to: ids[0] }, ...pairs].slice(0, 300);
  expect(await kubectlApply('Workflow', { nodes: [trigger, ...ids.map(step)], edges })).toContain('created');
});

test.each([4, 63])(
  'the largest workflow of groups is admitted with node IDs of %i characters',
  async (length) => {
    const named = (name: string) => name.padEnd(length, '_');
    const groups = [0, 1, 2].map((depth) => ({
      id: named(`g${depth}`),
      group: {},
      ...(depth > 0 && { within: named(`g${depth - 1}`) }),
    }));
    const ids = Array.from({ length: 96 }, (_, index) => named(`n${index}`));
    const body = ids.map((id) => ({ ...call(id), within: named('g2') }));
    const pairs = ids.flatMap((from, index) => ids.slice(index + 1, index + 5).map((to) => ({ from, to })));
    const edges = [{ from: 'trigger', to: named('g0') }, ...pairs].slice(0, 300);
    expect(await kubectlApply('Workflow', { nodes: [trigger, ...groups, ...body], edges })).toContain(
      'created',
    );
  },
);

test('a workflow may end in a fail node', async () => {
  expect(await apply('Workflow', { nodes: [trigger, failing] })).toContain('created');
});

test.each(REFUSED_WORKFLOWS)(
  'a workflow with %s is refused in words that say what to do',
  async (_sentence, spec, says) => {
    expect(await apply('Workflow', spec)).toMatch(says);
  },
);

test.each(REFUSED_DURATIONS)(
  '%s is refused, and the message names the bounds',
  async (_field, spec, says) => {
    expect(await apply('Workflow', spec)).toMatch(says);
  },
);

test('durations at their bounds are admitted, on each of a hundred nodes', async () => {
  const retry = { limit: 1, backoff: { initial: '0s', max: '23d23h59m59s1000ms' } };
  const many = Array.from({ length: 99 }, (_, index) => ({ ...call(`n${index}`), timeout: '1ms', retry }));
  const webhook = { path: 'a', replyTimeout: '4m60s', auth: { none: {} } };
  const history = { ttl: '3650d', dataTTL: '3650d' };
  const spec = { nodes: [{ id: 't', webhook }, ...many.slice(1), step('reply')], timeout: '365d', history };
  expect(await apply('Workflow', spec)).toContain('created');
});

test('a workflow from before the rules can still be activated, and its status be written', async () => {
  const nodes = [
    { id: 't', bot: { credential: 'bot' } },
    { ...step('a'), timeout: '0s' },
  ];
  const old = { nodes, timeout: '0s', history: { ttl: '1h', dataTTL: '2h' } };
  await pollUntil(
    'the API server admitting what it did before',
    async () => {
      await removeRules(client, 'workflows.windlass.dev');
      return /created/.test(await apply('Workflow', old));
    },
    { timeoutMs: 20_000, everyMs: 100 },
  );
  await installCrds(client);
  await pollUntil(
    'the API server refusing it',
    async () => /from 1ms to 24d/.test(await apply('Workflow', old, 'another')),
    { timeoutMs: 20_000, everyMs: 100 },
  );
  const patch = (body: unknown, ...more: string[]) => {
    const args = ['-n', namespace, 'patch', 'wlf', 'one', '--type=merge', '-p', JSON.stringify(body)];
    return kubectl(server, args.concat(more));
  };
  expect(await patch({ spec: { active: true } })).toContain('patched');
  expect(await patch({ status: { id: 'a.one' } }, '--subresource=status')).toContain('patched');
});

test('a workflow whose name is too long for a label is refused', async () => {
  expect(await apply('Workflow', workflow(), 'a'.repeat(64))).toMatch(/at most 63 characters/);
});

test.each(readdirSync(examples))('examples/%s is admitted as it is', async (name) => {
  const args = [
    '-n',
    namespace,
    'apply',
    '--validate=strict',
    '--dry-run=server',
    '-f',
    join(examples, name),
  ];
  expect(await kubectl(server, args)).toMatch(/workflow.windlass.dev\/[a-z-]+ created \(server dry run\)/);
});

test.each(REFUSED_CREDENTIALS)('a credential with %s is refused', async (_sentence, spec, says) => {
  expect(await apply('Credential', spec)).toMatch(says);
});

test('a credential with hosts in all forms is admitted', async () => {
  const allowedHosts = [
    'a.example',
    'a.example.:8443',
    'http://*.a.example',
    'bücher.example',
    '[::1]:80',
    '*',
  ];
  expect(await apply('Credential', { http: { bearer: { tokenRef: ref }, allowedHosts } })).toContain(
    'created',
  );
});

/** Changes the run: the refusal, or that it was patched. */
function changeRun(patch: object, subresource?: string): Promise<string> {
  const options = { type: 'merge', ...(subresource !== undefined && { subresource }) } as const;
  return client.patch(workflowRuns, { namespace, name: 'one' }, patch, options).then(
    () => 'patched',
    (error: Error) => error.message,
  );
}

/** Creates a run, gives it the status, then tries to change it so. */
async function patchRun(status: unknown, patch: object, subresource?: string): Promise<string> {
  expect(await apply('WorkflowRun', { workflow: 'orders' })).toContain('created');
  expect(await changeRun({ status }, 'status')).toContain('patched');
  return changeRun(patch, subresource);
}

test.each(REFUSED_STATUSES)('%s is refused', async (_sentence, status, next, says) => {
  expect(await patchRun(status, { status: next }, 'status')).toMatch(says);
});

test.each([
  ['a later sequence', { sequence: 10 }],
  ['a new epoch, which counts from zero', { epoch: 6, sequence: 0 }],
  ['the end', { phase: 'Failed', sequence: 10 }],
])('%s of a run that goes on is admitted', async (_sentence, next) => {
  expect(await patchRun(running, { status: next }, 'status')).toContain('patched');
});

test.each([
  ['its workflow', { workflow: 'other' }, /the workflow of a run cannot be changed/],
  ['whether it is a test', { test: true }, /test of a run cannot be changed/],
  ['its revision', { revision: 'orders-1' }, /the revision of a run cannot be changed/],
  ['its input', { input: { data_content: 1 } }, /the input of a run cannot be changed/],
  ['what started it', { trigger: { type: 'webhook' } }, /the trigger of a run cannot be changed/],
  ['what it repeats', { retryOf: 'zero' }, /retryOf of a run cannot be changed/],
  ['that it resumes', { resume: true, retryOf: 'one' }, /resume of a run cannot be changed/],
  ['how far it goes', { until: 'a' }, /until of a run cannot be changed/],
  ['who requested it', { requestedBy: 'ada' }, /requestedBy of a run cannot be changed/],
])('a run cannot change %s', async (_sentence, spec, says) => {
  expect(await patchRun(running, { spec })).toMatch(says);
});

test('only a test run goes no further than to a node', async () => {
  const spec = { workflow: 'orders', until: 'agent_1' };
  expect(await apply('WorkflowRun', spec)).toMatch(/until is only for test runs/);
  expect(await apply('WorkflowRun', { ...spec, test: false })).toMatch(/until is only for test runs/);
  expect(await apply('WorkflowRun', { ...spec, test: true })).toContain('created');
});

test('only a run with retryOf resumes, and only a run that resumes has decisions, one for each node', async () => {
  const done = { node: 'mail', outcome: 'AssumeDone', output: { data_content: { id: 1 } } };
  const notDone = { node: 'mail', outcome: 'AssumeNotDone' };
  const spec = { workflow: 'orders', retryOf: 'one' };
  expect(await apply('WorkflowRun', { workflow: 'orders', resume: true })).toMatch(/resume needs retryOf/);
  expect(await apply('WorkflowRun', { ...spec, decisions: [done] })).toMatch(
    /decisions are only for runs with resume/,
  );
  const resumes = { ...spec, resume: true };
  expect(await apply('WorkflowRun', { ...resumes, decisions: [done, notDone] })).toMatch(/Duplicate value/);
  expect(await apply('WorkflowRun', { ...resumes, decisions: [{ ...notDone, output: {} }] })).toMatch(
    /output is only for the outcome AssumeDone/,
  );
  expect(await apply('WorkflowRun', { ...resumes, decisions: [done] })).toContain('created');
});

test('a run can be cancelled, and not be brought back', async () => {
  expect(await patchRun(running, { spec: { cancel: true } })).toContain('patched');
  expect(await changeRun({ spec: { cancel: false } })).toMatch(/a cancelled run stays cancelled/);
});

test('what was kept in an input is compared as a whole, also where the schema says nothing', async () => {
  const input = { data_content: { deep: [{ a: 1 }] } };
  await kubectlApply('WorkflowRun', { workflow: 'orders', input });
  expect(await kubectlApply('WorkflowRun', { workflow: 'orders', input, cancel: true })).toContain(
    'configured',
  );
  const other = { data_content: { deep: [{ a: 2 }] } };
  expect(await kubectlApply('WorkflowRun', { workflow: 'orders', input: other })).toMatch(
    /the input of a run cannot/,
  );
});

test('the output of a node is kept as it is: null, nested lists, keys that look like something else', async () => {
  await apply('WorkflowRun', { workflow: 'orders' });
  const data = { none: null, list: [[1, 2], {}], 'a.b/c': { on: true } };
  const outputs = [{ text_content: '', data_content: data }, { data_content: null }];
  const nodes = outputs.map((output) => ({ id: 'a', phase: 'Succeeded' as const, output }));
  const metadata = { namespace, name: 'one' };
  await client.apply(workflowRuns, { metadata, status: { nodes } }, { subresource: 'status' });
  const kept = await client.get(workflowRuns, metadata);
  expect(kept.status?.nodes?.map(({ output }) => output)).toEqual(outputs);
});

test.each(REFUSED_PROJECT_SETTINGS)(
  'project settings with %s are refused at apply',
  async (_sentence, spec, says) => {
    expect(await apply('ProjectSettings', spec, 'default')).toMatch(says);
  },
);

test('a namespace has one ProjectSettings, of a fixed name', async () => {
  expect(await apply('ProjectSettings', {})).toContain(
    'the ProjectSettings of a namespace must be named "default"',
  );
  expect(await apply('ProjectSettings', {}, 'default')).toContain('created');
  const shown = await kubectl(server, ['-n', namespace, 'get', 'projectsettings', 'default', '-o', 'json']);
  expect(JSON.parse(shown)).toMatchObject({ status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } });
});
