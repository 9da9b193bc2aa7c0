/** How runs that are made as objects are submitted. */
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { LABEL } from '../../../api/group.ts';
import { isInvalid } from '../../../kube/errors.ts';
import { workflowRuns, workflows } from '../../../operator/shared/resources.ts';
import { submit } from '../../../runs/submit.ts';
import { auditTrail } from '../../support/logs/auditTrail.ts';
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

test('a run made as an object is submitted under its own name, with its input, for the current revision', async () => {
  await applyWorkflow();
  const { status } = await harness.waitFor(namespace, 'hello', READY);
  const object = await create('one', { input: { data_content: { name: 'Ada', none: null } } });
  const run = await submitted('one');
  expect(run).toMatchObject({
    workflow: 'hello',
    revision: status?.revision,
    trigger: 'execute',
    test: false,
    recordUid: object.metadata.uid,
  });
  expect(JSON.parse(run.input)).toEqual({ text_content: '', data_content: { name: 'Ada', none: null } });
});

test('a run made as an object gets the labels of records, and its workflow as owner', async () => {
  const workflow = await applyWorkflow();
  await create('one', { test: true });
  await submitted('one');
  const { metadata } = await harness.client.get(workflowRuns, { namespace, name: 'one' });
  expect(metadata.labels).toEqual({
    [LABEL.workflow]: 'hello',
    [LABEL.trigger]: 'execute',
    [LABEL.test]: 'true',
  });
  expect(metadata.ownerReferences).toMatchObject([
    { kind: 'Workflow', name: 'hello', uid: workflow, controller: true },
  ]);
});

/** Refuses every change of the labels of runs in the namespace, once it is in effect for this run. */
async function forbidLabels(run: string): Promise<void> {
  const group = { apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name: `labels-${namespace}` } };
  const policy = {
    ...group,
    kind: 'ValidatingAdmissionPolicy',
    spec: {
      matchConstraints: {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        resourceRules: [
          {
            apiGroups: ['windlass.dev'],
            apiVersions: ['*'],
            operations: ['UPDATE'],
            resources: ['workflowruns'],
          },
        ],
      },
      validations: [{ expression: 'object.metadata.?labels == oldObject.metadata.?labels' }],
    },
  };
  const binding = {
    ...group,
    kind: 'ValidatingAdmissionPolicyBinding',
    spec: { policyName: policy.metadata.name, validationActions: ['Deny'] },
  };
  await harness.apply(namespace, [policy, binding].map((each) => stringify(each)).join('---\n'));
  const label = { metadata: { labels: { team: 'a' } } };
  const isRefused = () =>
    harness.client
      .patch(workflowRuns, { namespace, name: run }, label, { type: 'merge', dryRun: true })
      .then(() => false, isInvalid);
  await pollUntil('the policy in effect', isRefused, SOON);
}

test('a run that the operator cannot label is executed all the same', async () => {
  await applyWorkflow();
  await create('one', { trigger: { type: 'nightly job' } });
  expect(await submitted('one')).toMatchObject({ trigger: 'nightly job' });
  const labels = async (name: string) =>
    (await harness.client.get(workflowRuns, { namespace, name })).metadata.labels;
  expect(await labels('one')).toEqual({ [LABEL.workflow]: 'hello' });
  await forbidLabels('one');
  await create('two');
  await submitted('two');
  expect(await labels('two')).toBeUndefined();
  expect(harness.log.messages('warn')).toContain('cannot adopt run');
});

test('an operator that starts again submits nothing twice', async () => {
  const workflow = await applyWorkflow();
  await create('one');
  await submitted('one');
  await harness.stopOperator();
  harness.startOperator();
  await create('two');
  await submitted('two');
  expect(await unfinishedRuns(harness.conn, uid, workflow)).toEqual(['one', 'two']);
});

test('a run that is created while the run store is away is submitted when it is back', async () => {
  await applyWorkflow();
  await harness.redis.kill();
  await create('one');
  await harness.redis.restart();
  expect((await submitted('one')).phase).toBe('Pending');
});

test('runs that are created as objects, and their cancelling, are in the audit trail once, with who requested them', async () => {
  const workflow = await applyWorkflow();
  const about = () =>
    auditTrail(harness.trail).filter(
      ({ event, object }) => event.startsWith('run.') && object?.namespace === namespace,
    );
  await create('first', { requestedBy: 'ada' });
  await submitted('first');
  await create('again', { retryOf: 'first', test: true, requestedBy: 'bob' });
  await submitted('again');
  await create('nowhere', { revision: 'hello-none' });
  await ended('nowhere');
  const cancel = { spec: { cancel: true } };
  await harness.client.patch(workflowRuns, { namespace, name: 'first' }, cancel, { type: 'merge' });
  const object = { kind: 'Workflow', namespace, name: 'hello', uid: workflow };
  const version = { resourceVersion: expect.stringMatching(/^\d+$/) as string, manager: 'test' };
  await expect.poll(about, WITHIN).toMatchObject([
    { event: 'run.execute', run: 'first', user: { name: 'ada' }, result: 'allowed', object, ...version },
    { event: 'run.retry', run: 'again', retryOf: 'first', user: { name: 'bob' }, result: 'allowed' },
    { event: 'run.execute', run: 'nowhere', result: 'failed', reason: 'RevisionMissing' },
    { event: 'run.cancel', object: { kind: 'WorkflowRun', name: 'first' }, result: 'allowed', ...version },
  ]);
});

test('what the run store counts is shown in the status', async () => {
  const workflow = await applyWorkflow();
  const { status } = await harness.waitFor(namespace, 'hello', READY);
  await submit(harness.conn, {
    project: uid,
    workflow: 'hello',
    workflowUid: workflow,
    revision: status?.revision ?? '',
    trigger: 'execute',
    input: '{"text_content":"","data_content":{}}',
    bodyHash: 'none',
    test: false,
  });
  await create('one');
  const runs = await pollUntil(
    'totals in the status',
    async () => {
      const { status } = await harness.client.get(workflows, { namespace, name: 'hello' });
      return status?.runs;
    },
    SOON,
  );
  expect(runs.active).toBeGreaterThan(0);
  expect(runs.last).toBeDefined();
});
