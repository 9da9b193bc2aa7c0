/** Workflows that run others: what is refused at apply, and what the run store knows of callees. */
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { API_VERSION } from '../../../api/group.ts';
import { workflowRuns, workflows } from '../../../operator/shared/resources.ts';
import { getCallee } from '../../../runs/callees.ts';
import { createRecorder } from '../../../runs/record/recorder.ts';
import type { OperatorHarness } from '../../support/operator/operatorHarness.ts';
import { setUpProject } from '../../support/operator/setUpProject.ts';
import { startTestRunner } from '../../support/runner/runnerProject.ts';
import { pollUntil } from '../../support/time/poll.ts';

const SOON = { timeoutMs: 40_000, everyMs: 50 };

let harness: OperatorHarness;
let namespace: string;
let uid: string;

setUpProject((project) => void ({ harness, namespace, uid } = project));

/** Applies an inactive workflow that runs the others. */
async function apply(name: string, ...callees: string[]): Promise<void> {
  await applyNodes(name, [
    { id: 'trigger', manual: {} },
    { id: 'last', skill: { name: 'set', parameters: { values: '1' } } },
    ...callees.map((callee, index) => ({ id: `call_${index}`, workflow: { name: callee } })),
  ]);
}

async function applyNodes(name: string, nodes: object[], extra: object = {}): Promise<void> {
  const object = { apiVersion: API_VERSION, kind: 'Workflow', metadata: { name } };
  await harness.apply(namespace, stringify({ ...object, spec: { active: false, nodes, ...extra } }));
}

const valid = (name: string, status: 'True' | 'False', reason: string) =>
  harness.waitFor(namespace, name, { type: 'Valid', status, reason });

test('a workflow that runs a missing one is valid once that is applied, and invalid when it is deleted', async () => {
  await apply('caller', 'callee');
  await valid('caller', 'False', 'WorkflowMissing');
  await apply('callee');
  await valid('caller', 'True', 'Accepted');
  await harness.client.delete(workflows, { namespace, name: 'callee' });
  const { metadata } = await valid('caller', 'False', 'WorkflowMissing');
  expect(metadata.name).toBe('caller');
});

test('a workflow that would run itself through another one is invalid', async () => {
  await apply('b');
  await apply('a', 'b');
  await valid('a', 'True', 'Accepted');
  await apply('b', 'a');
  const { status } = await valid('b', 'False', 'WorkflowCycle');
  expect(JSON.stringify(status?.conditions)).toContain('b → a → b');
});

test('a workflow that would run itself through a tool of an agent is invalid, and so is one with a missing tool', async () => {
  const agent = (workflow: string) => ({
    id: 'a',
    agent: { credential: 'llm', model: 'm', prompt: 'p', tools: [{ workflow }] },
  });
  await applyNodes('asks', [{ id: 'trigger', manual: {} }, agent('nobody')]);
  await valid('asks', 'False', 'WorkflowMissing');
  await apply('answers', 'asks');
  await applyNodes('asks', [{ id: 'trigger', manual: {} }, agent('answers')]);
  const { status } = await valid('asks', 'False', 'WorkflowCycle');
  expect(JSON.stringify(status?.conditions)).toContain('asks → answers → asks');
});

test('the run store knows the description of a workflow, also after it alone has changed', async () => {
  const description = async () => {
    const callee = await getCallee(harness.conn, uid, 'described');
    return callee !== undefined && 'description' in callee ? callee.description : undefined;
  };
  for (const text of ['Refunds an order.', 'Refunds  an order,\nonce.']) {
    await applyNodes('described', [{ id: 'trigger', manual: {} }], { description: text });
    await pollUntil('the description', async () => (await description()) === text, SOON);
  }
  expect(await description()).toContain('once.');
});

test('the run store knows each valid workflow, also an inactive one, until it is deleted', async () => {
  await apply('callee');
  const { metadata } = await valid('callee', 'True', 'Accepted');
  const known = () => getCallee(harness.conn, uid, 'callee');
  await pollUntil(
    'the workflow is known',
    async () => {
      const callee = await known();
      return callee !== undefined && 'workflowUid' in callee && callee.workflowUid === metadata.uid;
    },
    SOON,
  );
  await harness.client.delete(workflows, { namespace, name: 'callee' });
  await pollUntil('the workflow is not known any more', async () => (await known()) === undefined, SOON);
  expect(await known()).toBeUndefined();
});

test('a child run whose object is deleted while its parent waits is cancelled, which fails the node', async () => {
  const parts = { conn: harness.conn, project: uid, namespace, log: harness.log };
  const stop = new AbortController();
  const recording = createRecorder({ ...parts, kube: harness.client }).run(stop.signal);
  const runner = startTestRunner(harness.conn, uid);
  await applyNodes('callee', [
    { id: 'trigger', manual: {} },
    { id: 'pause', wait: { duration: '1h' } },
  ]);
  await apply('caller', 'callee');
  await harness.waitFor(namespace, 'caller', { type: 'Ready', status: 'True' });
  await harness.client.create(workflowRuns, {
    metadata: { namespace, name: 'one' },
    spec: { workflow: 'caller', test: true },
  });
  const run = async (name: string) => (await harness.client.find(workflowRuns, { namespace, name }))?.status;
  const callNode = async () => (await run('one'))?.nodes?.find(({ id }) => id === 'call_0');
  const child = await pollUntil(
    'the record of the child',
    async () => {
      const name = (await callNode())?.run ?? '';
      return name !== '' && (await run(name))?.phase === 'Waiting' && name;
    },
    SOON,
  );
  await harness.client.delete(workflowRuns, { namespace, name: child });
  await pollUntil('the end of the parent', async () => (await run('one'))?.phase === 'Failed', SOON);
  const message = `run ${child} of workflow callee was cancelled: Cancelled: The run was cancelled.`;
  expect(await callNode()).toMatchObject({ reason: 'ChildFailed', message });
  expect(await run(child)).toBeUndefined();
  await runner.stop(0);
  stop.abort();
  await recording;
});
