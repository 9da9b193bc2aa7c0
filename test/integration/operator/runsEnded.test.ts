/** How runs are cancelled and deleted, and what stays of those that have ended. */
import { expect, test } from 'vitest';
import { webhookRoutes, workflowRuns, workflows } from '../../../operator/shared/resources.ts';
import { helloRuns, READY, SOON, WITHIN } from '../../support/operator/helloRuns.ts';
import type { OperatorHarness } from '../../support/operator/operatorHarness.ts';
import { setUpProject } from '../../support/operator/setUpProject.ts';
import { unfinishedRuns } from '../../support/runStore/unfinishedRuns.ts';
import { pollUntil } from '../../support/time/poll.ts';

let harness: OperatorHarness;
let namespace: string;
let uid: string;

setUpProject((project) => void ({ harness, namespace, uid } = project));
const { applyWorkflow, create, submitted, ended } = helloRuns(() => ({ harness, namespace, uid }));

test('a cancel reaches a run that waits, and one that never was submitted', async () => {
  const workflow = await applyWorkflow();
  await create('one');
  await submitted('one');
  const cancel = { spec: { cancel: true } };
  await harness.client.patch(workflowRuns, { namespace, name: 'one' }, cancel, { type: 'merge' });
  await expect.poll(() => unfinishedRuns(harness.conn, uid, workflow), WITHIN).toEqual([]);
  await create('orphan', { workflow: 'nobody', cancel: true });
  expect(await ended('orphan')).toMatchObject({ phase: 'Cancelled' });
});

test('a run that the run store has lost can be cancelled', async () => {
  await applyWorkflow();
  await harness.stopOperator();
  await create('lost', { trigger: { type: 'execute' } });
  const ref = { namespace, name: 'lost' };
  const status = { phase: 'Running', epoch: 3, sequence: 7 };
  await harness.client.patch(workflowRuns, ref, { status }, { type: 'merge', subresource: 'status' });
  await harness.client.patch(workflowRuns, ref, { spec: { cancel: true } }, { type: 'merge' });
  harness.startOperator();
  expect(await ended('lost')).toMatchObject({ phase: 'Cancelled', epoch: 3, sequence: 7 });
});

test('a run that waits is cancelled when its object is deleted', async () => {
  const workflow = await applyWorkflow();
  await create('one');
  await create('two');
  await submitted('one');
  await submitted('two');
  await harness.client.delete(workflowRuns, { namespace, name: 'one' });
  await expect.poll(() => unfinishedRuns(harness.conn, uid, workflow), WITHIN).toEqual(['two']);
});

test('the runs of a workflow that is deleted are cancelled', async () => {
  const workflow = await applyWorkflow();
  await create('one');
  await submitted('one');
  await harness.client.delete(workflows, { namespace, name: 'hello' });
  await expect.poll(() => unfinishedRuns(harness.conn, uid, workflow), WITHIN).toEqual([]);
});

test('the runs of a workflow whose route was gone first are cancelled; a route that is deleted costs no run', async () => {
  const workflow = await applyWorkflow();
  await create('one');
  await submitted('one');
  const ref = { namespace, name: 'hello' };
  const { uid: first } = (await harness.client.get(webhookRoutes, ref)).metadata;
  await harness.client.delete(webhookRoutes, ref);
  const isBack = async () => (await harness.client.get(webhookRoutes, ref)).metadata.uid !== first;
  await pollUntil('the route back', isBack, SOON);
  await harness.waitFor(namespace, 'hello', READY);
  expect(await unfinishedRuns(harness.conn, uid, workflow)).toEqual(['one']);
  await Promise.all([harness.client.delete(webhookRoutes, ref), harness.client.delete(workflows, ref)]);
  await expect.poll(() => unfinishedRuns(harness.conn, uid, workflow), WITHIN).toEqual([]);
});

test('of ended runs the newest stay, as many as the history says', async () => {
  await applyWorkflow({ history: { succeeded: 2, failed: 1 } });
  const phases = ['Succeeded', 'Succeeded', 'Succeeded', 'Succeeded', 'Failed', 'Cancelled'] as const;
  await harness.stopOperator();
  for (const [index, phase] of phases.entries()) {
    await create(`run-${index}`);
    const completionTime = new Date(Date.now() - 60_000 + index * 1_000).toISOString();
    const status = { phase, completionTime };
    const ref = { namespace, name: `run-${index}` };
    await harness.client.patch(workflowRuns, ref, { status }, { type: 'merge', subresource: 'status' });
  }
  harness.startOperator();
  const names = async () =>
    (await harness.client.listAll(workflowRuns, { namespace })).items.map(({ metadata }) => metadata.name);
  await pollUntil('three runs left', async () => (await names()).length === 3, SOON);
  expect(await names()).toEqual(['run-2', 'run-3', 'run-5']);
});

test('after dataTTL input, outputs and transcripts of a run are removed, and how it ended stays', async () => {
  await applyWorkflow({ history: { dataTTL: '1s' } });
  await create('private', { input: { text_content: 'from a customer', data_content: { card: '4111' } } });
  const ref = { namespace, name: 'private' };
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{"card":"4111"}' };
  await harness.client.patch(workflowRuns, ref, { metadata: { annotations } }, { type: 'merge' });
  const early = harness.client.patch(
    workflowRuns,
    ref,
    [
      { op: 'remove', path: '/spec/input' },
      { op: 'add', path: '/spec/inputRedacted', value: true },
    ],
    { type: 'json' },
  );
  await expect(early).rejects.toThrow('only after the run has ended');
  await submitted('private');
  const status = {
    phase: 'Failed' as const,
    epoch: 1,
    sequence: 9,
    completionTime: new Date().toISOString(),
    reason: 'NodeFailed',
    nodes: [
      { id: 'trigger', phase: 'Succeeded' as const, output: { data_content: { card: '4111' } } },
      {
        id: 'agent',
        phase: 'Failed' as const,
        agent: { answers: 1, toolCalls: 1 },
        transcript: { entries: [{ role: 'User' as const, text: 'My card is 4111' }] },
        sent: { parameters: { prompt: 'My card is 4111' } },
        missing: { reference: '$item.x', at: '$item', type: 'object' as const, size: 1, keys: ['4111'] },
      },
    ],
  };
  await harness.client.apply(workflowRuns, { metadata: ref, status }, { subresource: 'status' });
  const run = await pollUntil(
    'the data going',
    async () => {
      const found = await harness.client.get(workflowRuns, ref);
      return found.metadata.annotations?.['windlass.dev/data-removed'] !== undefined && found;
    },
    SOON,
  );
  expect(run.spec).toMatchObject({ workflow: 'hello', inputRedacted: true, inputTruncated: true });
  expect(run.status).toMatchObject({ phase: 'Failed', reason: 'NodeFailed' });
  expect(run.status?.nodes).toEqual([
    { id: 'trigger', phase: 'Succeeded', redacted: true, truncated: true },
    {
      id: 'agent',
      phase: 'Failed',
      agent: { answers: 1, toolCalls: 1 },
      redacted: true,
      truncated: true,
    },
  ]);
  expect(JSON.stringify(run)).not.toContain('4111');
  // Nobody takes what is left for the whole input.
  await create('again', { retryOf: 'private' });
  expect(await ended('again')).toMatchObject({ phase: 'Failed', reason: 'DataLost' });
});
