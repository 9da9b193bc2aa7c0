/** Runs that repeat another one, and runs as far as a node. */
import { expect, test } from 'vitest';
import type { RunStatus } from '../../../api/run.ts';
import { workflowRuns } from '../../../operator/shared/resources.ts';
import { HELLO, helloRuns, READY } from '../../support/operator/helloRuns.ts';
import type { OperatorHarness } from '../../support/operator/operatorHarness.ts';
import { setUpProject } from '../../support/operator/setUpProject.ts';

let harness: OperatorHarness;
let namespace: string;
let uid: string;

setUpProject((project) => void ({ harness, namespace, uid } = project));
const { applyWorkflow, create, submitted, ended } = helloRuns(() => ({ harness, namespace, uid }));

test('a run that failed is repeated with its input, also by a repetition, and not with half of it', async () => {
  await applyWorkflow();
  const input = { text_content: '', data_content: { item: 'desk' } };
  await create('poisoned', { input });
  await submitted('poisoned');
  await create('again', { retryOf: 'poisoned', requestedBy: 'ada' });
  await create('once-more', { retryOf: 'again', test: true });
  for (const name of ['again', 'once-more']) expect(JSON.parse((await submitted(name)).input)).toEqual(input);
  expect(await submitted('again')).toMatchObject({ retryOf: 'poisoned', requestedBy: 'ada' });
  await create('cut', { input, inputTruncated: true });
  await create('of-cut', { retryOf: 'cut' });
  expect(await ended('of-cut')).toMatchObject({ phase: 'Failed', reason: 'DataLost' });
  await create('of-nothing', { retryOf: 'nothing' });
  expect(await ended('of-nothing')).toMatchObject({ phase: 'Failed', reason: 'RunMissing' });
});

test('a failed run whose input its workflow withheld is repeated with what its trigger shows, if that is all of it', async () => {
  const workflow = await applyWorkflow({ recordData: 'Errors' });
  const revision = (await harness.waitFor(namespace, 'hello', READY)).status?.revision ?? '';
  await harness.stopOperator();
  const output = { text_content: 'text', data_content: { item: 'desk' } };
  await recordFailure(workflow, 'shown', { revision, node: { id: 'trigger', output } });
  await recordFailure(workflow, 'headers', { revision, node: { id: 'trigger', output }, hadMore: true });
  await recordFailure(workflow, 'cut', { revision, node: { id: 'trigger', output, truncated: true } });
  await recordFailure(workflow, 'other', { revision, node: { id: 'step', output } });
  harness.startOperator();
  await create('again', { retryOf: 'shown' });
  expect(JSON.parse((await submitted('again')).input)).toEqual(output);
  for (const [name, why] of [
    ['headers', 'such as headers of a webhook'],
    ['cut', 'by the settings of its workflow'],
    ['other', 'by the settings of its workflow'],
  ] as const) {
    await create(`of-${name}`, { retryOf: name });
    const message = expect.stringContaining(why) as string;
    expect(await ended(`of-${name}`)).toMatchObject({ reason: 'DataLost', message });
  }
});

type Failure = { revision: string; node: object; hadMore?: boolean };

/** The record of a failed run that was made before its end, as runners make it. */
async function recordFailure(workflow: string, name: string, { revision, node, hadMore }: Failure) {
  const owner = {
    apiVersion: HELLO.apiVersion,
    kind: 'Workflow',
    name: 'hello',
    uid: workflow,
    controller: true,
  };
  const annotations = {
    'windlass.dev/recorded': 'store',
    ...(hadMore && { 'windlass.dev/partial-input': 'true' }),
  };
  const metadata = { namespace, name, annotations, ownerReferences: [owner] };
  const spec = { workflow: 'hello', inputRedacted: true, inputTruncated: true } as const;
  await harness.client.create(workflowRuns, { metadata, spec });
  const end = {
    phase: 'Failed',
    completionTime: new Date().toISOString(),
    revision,
    epoch: 1,
    sequence: 1,
  } as const;
  const nodes = [{ phase: 'Succeeded', ...node }] as NonNullable<RunStatus['nodes']>;
  const status = { ...end, nodes };
  await harness.client.apply(
    workflowRuns,
    { metadata: { namespace, name }, status },
    { subresource: 'status' },
  );
}

test('a test run goes as far as a node, and so does one that repeats it; the node must be there', async () => {
  await applyWorkflow();
  const input = { text_content: '', data_content: {} };
  await create('near', { test: true, until: 'trigger', input });
  await create('near-again', { test: true, retryOf: 'near' });
  await create('in-earnest', { retryOf: 'near' });
  await create('own-input', { test: true, retryOf: 'near', input });
  const names = ['near', 'near-again', 'in-earnest', 'own-input'];
  const until = await Promise.all(names.map(async (name) => (await submitted(name)).until));
  expect(until).toEqual(['trigger', 'trigger', undefined, undefined]);
  await create('too-far', { test: true, until: 'nowhere' });
  expect(await ended('too-far')).toMatchObject({
    phase: 'Failed',
    reason: 'NodeMissing',
    message: expect.stringContaining('has no node nowhere'),
  });
});
