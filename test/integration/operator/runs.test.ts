/** Runs that are made as objects, and what stays of runs that have ended. */
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { LABEL } from '../../../api/group.ts';
import type { RunSpec, RunStatus } from '../../../api/run.ts';
import { findCondition } from '../../../kube/conditions.ts';
import { isInvalid } from '../../../kube/errors.ts';
import { controllerRevisions } from '../../../kube/resource.ts';
import { webhookRoutes, workflowRuns, workflows } from '../../../operator/shared/resources.ts';
import { namedRevision } from '../../../operator/workflow/revision.ts';
import { unfinishedRuns } from '../../support/runStore/unfinishedRuns.ts';
import { readRun } from '../../../runs/read.ts';
import { submit } from '../../../runs/submit.ts';
import type { RunState } from '../../../runs/types.ts';
import { auditTrail } from '../../support/logs/auditTrail.ts';
import { kubectl } from '../../support/cluster/kubectl.ts';
import type { OperatorHarness } from '../../support/operator/operatorHarness.ts';
import { setUpProject } from '../../support/operator/setUpProject.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { claimed, claimedOne } from '../../support/runStore/runStore.ts';

const SOON = { timeoutMs: 40_000, everyMs: 25 };
const WITHIN = { timeout: 40_000, interval: 25 };
const READY = { type: 'Ready', status: 'True' };

let harness: OperatorHarness;
let namespace: string;
let uid: string;

setUpProject((project) => void ({ harness, namespace, uid } = project));

const HELLO = { apiVersion: 'windlass.dev/v1alpha1', kind: 'Workflow', metadata: { name: 'hello' } } as const;

async function applyWorkflow(spec: object = {}): Promise<string> {
  const nodes = [{ id: 'trigger', manual: { testData: { from: 'test data' } } }];
  await harness.apply(namespace, stringify({ ...HELLO, spec: { active: true, nodes, ...spec } }));
  const { metadata } = await harness.waitFor(namespace, 'hello', READY);
  return metadata.uid ?? '';
}

const create = (name: string, spec: Partial<RunSpec> = {}) =>
  harness.client.create(workflowRuns, {
    metadata: { namespace, name },
    spec: { workflow: 'hello', ...spec },
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

const ended = (name: string) =>
  pollUntil(
    `the end of run ${name}`,
    async () => {
      const { status } = await harness.client.get(workflowRuns, { namespace, name });
      return status?.completionTime !== undefined && status;
    },
    SOON,
  );

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

test('of an inactive workflow a test run takes its test data, and another run fails and says why', async () => {
  await applyWorkflow({ active: false });
  await create('real');
  expect(await ended('real')).toMatchObject({
    phase: 'Failed',
    reason: 'WorkflowInactive',
    message: expect.stringContaining('set spec.active to true'),
  });
  await create('test', { test: true });
  const run = await submitted('test');
  expect(run.test).toBe(true);
  expect(JSON.parse(run.input)).toEqual({ text_content: '', data_content: { from: 'test data' } });
});

test('a run that was accepted before its workflow was switched off runs, and one that comes later fails', async () => {
  const workflow = await applyWorkflow();
  await create('before');
  await submitted('before');
  await applyWorkflow({ active: false });
  await create('after');
  expect(await ended('after')).toMatchObject({ phase: 'Failed', reason: 'WorkflowInactive' });
  expect(await unfinishedRuns(harness.conn, uid, workflow)).toEqual(['before']);
  const { status } = await harness.client.get(workflowRuns, { namespace, name: 'before' });
  expect(status?.completionTime).toBeUndefined();
});

test('of a suspended workflow every run fails, and one that was accepted before waits until it is resumed', async () => {
  await applyWorkflow();
  const revision = (await harness.waitFor(namespace, 'hello', READY)).status?.revision ?? '';
  await create('before');
  await submitted('before');
  await applyWorkflow({ suspend: true, timeout: '5m' });
  const { status } = await harness.waitFor(namespace, 'hello', { ...READY, reason: 'Suspended' });
  expect(status?.conditions).toContainEqual(
    expect.objectContaining({ type: 'Active', status: 'False', reason: 'Suspended' }),
  );
  const shown = async () => (await harness.client.get(workflows, { namespace, name: 'hello' })).status;
  await expect.poll(shown, { timeout: 20_000, interval: 25 }).toMatchObject({
    runs: { active: 1, running: 0, waiting: 1 },
    conditions: expect.arrayContaining([
      expect.objectContaining({ type: 'Ready', message: expect.stringContaining('1 run waits and starts') }),
    ]) as unknown,
  });
  const columns = await kubectl(harness.server, [
    '-n',
    namespace,
    'get',
    'workflows.windlass.dev',
    '-o',
    'wide',
  ]);
  expect(columns).toMatch(/^NAME +ACTIVE +SUSPENDED .* RUNNING +WAITING .*\nhello +true +true .* 0 +1 /);
  const runs: Partial<RunSpec>[] = [{}, { test: true }, { retryOf: 'before' }, { revision }];
  for (const [index, spec] of runs.entries()) {
    await create(`run-${index}`, spec);
    expect(await ended(`run-${index}`)).toMatchObject({
      phase: 'Failed',
      reason: 'Suspended',
      message: expect.stringContaining('set spec.suspend to false'),
    });
  }
  // The status is written before the line of the audit trail.
  const denied = () =>
    auditTrail(harness.trail)
      .filter(({ object, run }) => object?.namespace === namespace && /^run-\d$/.test(String(run)))
      .map(({ event, result, reason }) => `${event} ${result} ${String(reason)}`);
  await expect
    .poll(denied, WITHIN)
    .toEqual([
      'run.execute denied Suspended',
      'run.test denied Suspended',
      'run.retry denied Suspended',
      'run.execute denied Suspended',
    ]);
  await harness.stopOperator();
  expect(await claimed(harness.conn, uid)).toEqual([]);
  harness.startOperator();
  await applyWorkflow({ timeout: '5m' });
  expect((await claimedOne(harness.conn, uid)).run).toBe('before');
});

test('a workflow is suspended also by a spec that is invalid', async () => {
  await applyWorkflow();
  await create('before');
  await submitted('before');
  const spec = {
    suspend: true,
    nodes: [
      { id: 'trigger', manual: {} },
      { id: 'fax', skill: { name: 'fax' } },
    ],
  };
  const changes = { type: 'merge', fieldManager: 'test' } as const;
  await harness.client.patch(workflows, { namespace, name: 'hello' }, { spec }, changes);
  await harness.waitFor(namespace, 'hello', { type: 'Active', status: 'False', reason: 'Suspended' });
  expect(await claimed(harness.conn, uid)).toEqual([]);
  expect((await harness.client.get(webhookRoutes, { namespace, name: 'hello' })).spec).toMatchObject({
    active: false,
    suspended: true,
  });
});

test('a run that is applied before its workflow waits for it', async () => {
  await create('early');
  const status = async () => (await harness.client.get(workflowRuns, { namespace, name: 'early' })).status;
  await expect.poll(status, { timeout: 20_000, interval: 25 }).toMatchObject({
    phase: 'Pending',
    reason: 'WorkflowMissing',
    message: expect.stringContaining('Workflow hello does not exist'),
  });
  await applyWorkflow();
  expect((await submitted('early')).workflow).toBe('hello');
  expect(await status()).toEqual({ phase: 'Pending' });
});

test('a run of a workflow that was never valid is pending with the reason at once, and then fails', async () => {
  const nodes = [
    { id: 'trigger', manual: {} },
    { id: 'a', skill: { name: 'fax' } },
  ];
  await harness.client.create(workflows, {
    ...HELLO,
    metadata: { ...HELLO.metadata, namespace },
    spec: { active: true, nodes },
  });
  await harness.waitFor(namespace, 'hello', { type: 'Valid', status: 'False' });
  await create('never');
  const status = async () => (await harness.client.get(workflowRuns, { namespace, name: 'never' })).status;
  await expect
    .poll(status, { timeout: 4_000, interval: 25 })
    .toMatchObject({ phase: 'Pending', reason: 'WorkflowInvalid' });
  expect(await ended('never')).toMatchObject({
    phase: 'Failed',
    reason: 'WorkflowInvalid',
    message: expect.stringContaining('kubectl describe'),
  });
});

test('a run of an older revision executes that one, and one of a revision that does not exist fails', async () => {
  await applyWorkflow();
  const first = (await harness.waitFor(namespace, 'hello', READY)).status?.revision ?? '';
  await applyWorkflow({ timeout: '5m' });
  await create('older', { revision: first });
  expect((await submitted('older')).revision).toBe(first);
  await create('unknown', { revision: 'hello-0' });
  expect(await ended('unknown')).toMatchObject({ phase: 'Failed', reason: 'RevisionMissing' });
});

test('a revision that was never activated is executed by test runs alone, also after another one was', async () => {
  await applyWorkflow({ active: false });
  const never = (await harness.waitFor(namespace, 'hello', READY)).status?.revision ?? '';
  await applyWorkflow({ timeout: '5m' });
  await create('real', { revision: never });
  expect(await ended('real')).toMatchObject({ phase: 'Failed', reason: 'RevisionNotActivated' });
  await create('test', { revision: never, test: true });
  expect((await submitted('test')).revision).toBe(never);
  await applyWorkflow();
  await applyWorkflow({ timeout: '5m' });
  await create('real-again', { revision: never });
  expect((await submitted('real-again')).revision).toBe(never);
});

test('a ControllerRevision that somebody made under the name of a revision is replaced', async () => {
  const nodes = [{ id: 'trigger', manual: {} }];
  const { name, revision } = namedRevision({ ...HELLO, spec: { active: true, nodes } });
  const data = { ...revision, planted: true };
  const labels = { [LABEL.workflow]: 'hello' };
  const metadata = { namespace, name, labels };
  await harness.client.create(controllerRevisions, { metadata, revision: 1, data });
  await applyWorkflow({ nodes });
  await create('one');
  expect((await submitted('one')).revision).toBe(name);
  expect((await harness.client.get(controllerRevisions, { namespace, name })).data).toEqual(revision);
});

test.each([
  ['a finalizer', { labels: { [LABEL.workflow]: 'hello' }, finalizers: ['example.com/hold'] }],
  ['no label of ours, which the admission policy keeps', {}],
])(
  'a ControllerRevision of the name of a revision with %s is named in the condition, until it is gone',
  async (_what, fields) => {
    const object = { ...HELLO, spec: { active: true, nodes: [{ id: 'trigger', manual: {} }] } };
    const { name, revision } = namedRevision(object);
    const metadata = { namespace, name, ...fields };
    await harness.client.create(controllerRevisions, { metadata, revision: 1, data: revision });
    await harness.apply(namespace, stringify(object));
    const expected = { type: 'Routed', status: 'False', reason: 'RevisionNameTaken' } as const;
    const { status } = await harness.waitFor(namespace, 'hello', expected);
    expect(findCondition(status?.conditions, 'Stalled')?.message).toContain(`ControllerRevision ${name} `);
    const ref = { namespace, name };
    await harness.client.patch(
      controllerRevisions,
      ref,
      { metadata: { finalizers: null } },
      { type: 'merge' },
    );
    await harness.client.delete(controllerRevisions, ref);
    // Reconciled again when the workflow changes, or soon.
    await applyWorkflow({ timeout: '6m' });
    await applyWorkflow(object.spec);
  },
);

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

test('of revisions the newest ten stay, and the one that is in effect', async () => {
  for (let minutes = 1; minutes <= 13; minutes += 1) await applyWorkflow({ timeout: `${minutes}m` });
  const { status } = await harness.waitFor(namespace, 'hello', READY);
  const kept = () => harness.client.listAll(controllerRevisions, { namespace });
  await pollUntil('ten revisions', async () => (await kept()).items.length <= 11, SOON);
  expect((await kept()).items.map(({ metadata }) => metadata.name)).toContain(status?.revision);
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

test('after dataTTL the input and the outputs of a run are removed, and how it ended stays', async () => {
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
    nodes: [{ id: 'trigger', phase: 'Succeeded' as const, output: { data_content: { card: '4111' } } }],
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
  expect(run.status?.nodes).toEqual([{ id: 'trigger', phase: 'Succeeded', redacted: true, truncated: true }]);
  expect(JSON.stringify(run)).not.toContain('4111');
  // Nobody takes what is left for the whole input.
  await create('again', { retryOf: 'private' });
  expect(await ended('again')).toMatchObject({ phase: 'Failed', reason: 'DataLost' });
});
