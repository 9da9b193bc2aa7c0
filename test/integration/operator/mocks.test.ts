/** Mocks of runs that are made as objects: which are refused, and which a repetition has. */
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { RunSpec } from '../../../api/run.ts';
import { workflowRuns } from '../../../operator/shared/resources.ts';
import { readRun } from '../../../runs/read.ts';
import type { OperatorHarness } from '../../support/operator/operatorHarness.ts';
import { setUpProject } from '../../support/operator/setUpProject.ts';
import { pollUntil } from '../../support/time/poll.ts';

const SOON = { timeoutMs: 40_000, everyMs: 25 };

let harness: OperatorHarness;
let namespace: string;
let uid: string;

setUpProject((project) => void ({ harness, namespace, uid } = project));

async function applyWorkflow(): Promise<void> {
  const tools = [{ name: 'ask', skill: 'http_request', parameters: { url: 'https://api.shop.example' } }];
  const nodes = [
    { id: 'trigger', manual: {} },
    { id: 'call', skill: { name: 'http_request', parameters: { url: 'https://api.shop.example' } } },
    { id: 'data', skill: { name: 'set', parameters: { values: { a: '1' } } } },
    { id: 'agent', agent: { credential: 'llm', model: 'm', prompt: 'p', tools } },
  ];
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'llm' }, stringData: { key: 'k' } };
  const openai = { baseURL: 'https://llm.shop.example', apiKeyRef: { name: 'llm', key: 'key' } };
  const own = (kind: string, name: string, spec: object) => ({
    apiVersion: 'windlass.dev/v1alpha1',
    kind,
    metadata: { name },
    spec,
  });
  const objects = [secret, own('Credential', 'llm', { openai }), own('Workflow', 'hello', { nodes })];
  await harness.apply(namespace, objects.map((object) => stringify(object)).join('---\n'));
  await harness.waitFor(namespace, 'hello', { type: 'Valid', status: 'True' });
}

const create = (name: string, spec: Partial<RunSpec> = {}) =>
  harness.client.create(workflowRuns, {
    metadata: { namespace, name },
    spec: { workflow: 'hello', test: true, ...spec },
  });

/** The status of the run, as soon as it has ended. */
const ended = (name: string) =>
  pollUntil(
    'the end of the run',
    async () => {
      const { status } = await harness.client.get(workflowRuns, { namespace, name });
      return status?.completionTime !== undefined && status;
    },
    SOON,
  );

/** The mocks and the model of the run in the run store. */
const testingOf = (name: string) =>
  pollUntil(
    `run ${name} in the run store`,
    async () => {
      const run = await readRun(harness.conn, uid, name);
      return run !== undefined && !('outcome' in run) && run.testing;
    },
    SOON,
  );

test.each<[what: string, spec: Partial<RunSpec>, says: string]>([
  ['an unknown node', { mocks: [{ node: 'x', output: {} }] }, 'spec.mocks[0]: the workflow has no step x'],
  ['an unknown tool', { mocks: [{ node: 'agent', tool: 'x', output: {} }] }, 'its tools are: ask'],
  ['a real model', { mocks: [{ node: 'agent', real: true }] }, 'or name a tool'],
  ['a model for no agent', { model: { node: 'call', model: 'm' } }, 'has no agent call'],
  [
    'more than 64 KiB',
    { mocks: [{ node: 'call', output: { text_content: 'x'.repeat(70_000) } }] },
    'spec.mocks[0] is larger than 64 KiB',
  ],
])('mocks of %s fail the run before it starts', async (_what, spec, says) => {
  await applyWorkflow();
  await create('one', spec);
  const status = await ended('one');
  expect(status).toMatchObject({ phase: 'Failed', reason: 'InvalidMocks' });
  expect(status.message).toContain(says);
});

test('a repetition of a test run names the credential of its model itself, and keeps the mocks', async () => {
  await applyWorkflow();
  const model = { model: 'large', credential: 'paid' };
  await create('one', { mocks: [{ node: 'call', output: {} }], model, input: { data_content: {} } });
  await create('two', { retryOf: 'one' });
  expect(await ended('two')).toMatchObject({
    reason: 'InvalidMocks',
    message: expect.stringContaining('"credential":"paid"') as string,
  });
  await create('three', { retryOf: 'one', model });
  expect(await testingOf('three')).toEqual({ mocks: [{ node: 'call', output: {} }], model });
});

test('a repetition of a test run has its mocks and its model, unless it has its own', async () => {
  await applyWorkflow();
  const first = { mocks: [{ node: 'call', output: { data_content: 1 } }], model: { model: 'mini' } };
  await create('one', { ...first, input: { data_content: {} } });
  await create('two', { retryOf: 'one' });
  await create('three', { retryOf: 'one', mocks: [] });
  expect(await testingOf('two')).toEqual(first);
  expect(await testingOf('three')).toEqual({ mocks: [], model: first.model });
});
