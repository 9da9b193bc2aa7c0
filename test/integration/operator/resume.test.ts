/** WorkflowRuns with `resume`: from the run store, from the record, and what is refused. */
import { beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { API_VERSION } from '../../../api/group.ts';
import type { NodeStatus } from '../../../api/nodeStatus.ts';
import type { RunSpec } from '../../../api/run.ts';
import { workflowRuns } from '../../../operator/shared/resources.ts';
import { advance } from '../../../runs/advance.ts';
import { readRun } from '../../../runs/read.ts';
import { submit } from '../../../runs/submit.ts';
import type { NodeState } from '../../../runs/types/node.ts';
import type { RunState } from '../../../runs/types/run.ts';
import type { OperatorHarness } from '../../support/operator/operatorHarness.ts';
import { setUpProject } from '../../support/operator/setUpProject.ts';
import { claimed, refOf, submissionOf } from '../../support/runStore/runStore.ts';
import { pollUntil } from '../../support/time/poll.ts';

const SOON = { timeoutMs: 40_000, everyMs: 25 };
const READY = { type: 'Ready', status: 'True' };

let harness: OperatorHarness;
let namespace: string;
let uid: string;
let workflowUid: string;
let revision: string;

setUpProject((project) => void ({ harness, namespace, uid } = project));

beforeEach(async () => {
  const nodes = [
    { id: 'trigger', manual: {} },
    { id: 'a', skill: { name: 'set', parameters: { values: '1' } } },
    { id: 'b', skill: { name: 'set', parameters: { values: 'nodes.a.data_content' } } },
  ];
  const object = { apiVersion: API_VERSION, kind: 'Workflow', metadata: { name: 'orders' } };
  await harness.apply(namespace, stringify({ ...object, spec: { active: true, nodes } }));
  const { metadata, status } = await harness.waitFor(namespace, 'orders', READY);
  workflowUid = metadata.uid ?? '';
  revision = status?.revision ?? '';
});

const output = { text_content: '', data_content: { from: 'the failed run' } };
const succeeded: NodeState = { id: 'a', phase: 'Succeeded', attempts: 1, output };
const failed: NodeState = {
  id: 'b',
  phase: 'Failed',
  attempts: 1,
  reason: 'InvalidParameters',
  message: 'no',
};
const unknown: NodeState = { ...failed, phase: 'Unknown', reason: 'EffectUnknown' };

/** A run that has failed, as the run store has it. */
async function failedRun(nodes: NodeState[] = [succeeded, failed]): Promise<string> {
  const { conn } = harness;
  const submitted = await submit(conn, submissionOf(uid, { workflowUid, revision }));
  if (submitted.outcome !== 'accepted') throw new Error('not accepted');
  const [claim] = await claimed(conn, uid, 1);
  if (!claim) throw new Error('not claimed');
  const end = { phase: 'Failed', reason: 'NodeFailed', message: 'node b: no' } as const;
  await advance(conn, refOf(claim), { checkpoints: nodes, end });
  return submitted.run;
}

/** A run that has failed, as its record alone has it. */
async function recordedRun(name: string, nodes: NodeStatus[], ofRevision = revision): Promise<void> {
  const owner = {
    apiVersion: API_VERSION,
    kind: 'Workflow',
    name: 'orders',
    uid: workflowUid,
    controller: true,
  };
  await harness.client.create(workflowRuns, {
    metadata: { name, namespace, annotations: { 'windlass.dev/recorded': 'x' }, ownerReferences: [owner] },
    spec: { workflow: 'orders', trigger: { type: 'webhook' }, input: { data_content: { item: 'desk' } } },
  });
  const status = { phase: 'Failed', revision: ofRevision, epoch: 1, sequence: 1, nodes };
  await harness.client.patch(
    workflowRuns,
    { namespace, name },
    { status },
    { type: 'merge', subresource: 'status' },
  );
}

const resume = (name: string, retryOf: string, more: Partial<RunSpec> = {}) =>
  harness.client.create(workflowRuns, {
    metadata: { namespace, name },
    spec: { workflow: 'orders', retryOf, resume: true, ...more },
  });
const submitted = (name: string): Promise<RunState> =>
  pollUntil(
    `run ${name} in the run store`,
    async () => {
      const run = await readRun(harness.conn, uid, name);
      return run !== undefined && !('outcome' in run) && run;
    },
    SOON,
  );
const refused = (name: string) =>
  pollUntil(
    `the end of run ${name}`,
    async () => {
      const { status } = await harness.client.get(workflowRuns, { namespace, name });
      return status?.completionTime !== undefined && { reason: status.reason, message: status.message };
    },
    SOON,
  );

test('a run resumes one that the run store has, with its input, its revision and its outputs', async () => {
  const run = await failedRun();
  await resume('resumed', run);
  expect(await submitted('resumed')).toMatchObject({
    retryOf: run,
    origin: run,
    revision,
    input: submissionOf(uid).input,
    nodes: [
      { id: 'a', phase: 'Succeeded', output },
      { id: 'b', phase: 'Pending', attempts: 1 },
    ],
  });
});

test('a run resumes one that only its record has', async () => {
  const nodes = [
    { id: 'trigger', phase: 'Succeeded', attempts: 1 },
    { id: 'a', phase: 'Succeeded', attempts: 1, output },
    { id: 'b', phase: 'Failed', attempts: 2 },
  ] satisfies NodeStatus[];
  await recordedRun('origin', nodes);
  await resume('resumed', 'origin');
  expect(await submitted('resumed')).toMatchObject({
    origin: 'origin',
    input: '{"text_content":"","data_content":{"item":"desk"}}',
    nodes: [
      { id: 'a', output },
      { id: 'b', phase: 'Pending', attempts: 2 },
    ],
  });
});

test('a resume whose data are gone fails with DataLost, before any effect', async () => {
  const nodes = [
    { id: 'a', phase: 'Succeeded', attempts: 1, truncated: true },
    { id: 'b', phase: 'Failed', attempts: 1 },
  ] satisfies NodeStatus[];
  await recordedRun('cut', nodes);
  await resume('resumed', 'cut');
  expect(await refused('resumed')).toMatchObject({
    reason: 'DataLost',
    message: expect.stringContaining('its record does not have all of'),
  });
});

test('a deleted revision cannot be resumed', async () => {
  await recordedRun('old', [{ id: 'b', phase: 'Failed', attempts: 1 }], 'orders-gone');
  await resume('resumed', 'old');
  expect(await refused('resumed')).toEqual({
    reason: 'RevisionMissing',
    message:
      'Revision orders-gone of run old no longer exists, so the run cannot be resumed: create a WorkflowRun with retryOf and without resume, which executes the current revision.',
  });
});

test('an Unknown node needs a decision, which names both choices', async () => {
  const run = await failedRun([succeeded, unknown]);
  await resume('undecided', run);
  expect(await refused('undecided')).toEqual({
    reason: 'DecisionMissing',
    message: expect.stringMatching(/Node b of run .* AssumeDone.* AssumeNotDone/),
  });
  const data_content = { sent: true };
  await resume('decided', run, {
    decisions: [{ node: 'b', outcome: 'AssumeDone', output: { data_content } }],
  });
  expect((await submitted('decided')).nodes).toMatchObject([
    { id: 'a' },
    { id: 'b', phase: 'Succeeded', output: { data_content } },
  ]);
});

test.each([
  ['a run that does not exist', { retryOf: 'nobody' }, 'RunMissing', 'has no run nobody'],
  ['an input of its own', { input: { data_content: 1 } }, 'NotResumable', 'remove spec.input'],
  ['another revision', { revision: 'orders-0' }, 'NotResumable', 'leave spec.revision out'],
  ['a test run of a live one', { test: true }, 'NotResumable', 'set spec.test to false'],
])('%s is refused', async (_name, more, reason, says) => {
  const run = await failedRun();
  await resume('refused', run, more);
  expect(await refused('refused')).toEqual({ reason, message: expect.stringContaining(says) });
});
