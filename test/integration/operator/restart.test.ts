/** What an operator that starts, ends or meets an outage changes, and what it leaves alone. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { ANNOTATION, API_VERSION } from '../../../api/group.ts';
import {
  controllerRevisions,
  deployments,
  roleBindings,
  roles,
  secrets,
  serviceAccounts,
  type KubeObject,
  type Resource,
} from '../../../kube/resource.ts';
import { credentials, webhookRoutes, workflowRuns, workflows } from '../../../operator/shared/resources.ts';
import { hasPoolAccount } from '../../support/runStore/calls.ts';
import { poolAccount } from '../../../store/accounts.ts';
import { advance } from '../../../runs/advance.ts';
import { keysOf } from '../../../store/keys.ts';
import { openProject, storeId } from '../../../runs/project.ts';
import { readCounts } from '../../../runs/read.ts';
import { recorded } from '../../../runs/record/recorded.ts';
import { startOperatorHarness, type OperatorHarness } from '../../support/operator/operatorHarness.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { accepted, claimedOne, stateOf, submissionOf } from '../../support/runStore/runStore.ts';

const READY = { type: 'Ready', status: 'True', reason: 'Serving' };
const KINDS: Resource<KubeObject>[] = [
  workflows,
  credentials,
  webhookRoutes,
  controllerRevisions,
  deployments,
  roles,
  roleBindings,
  serviceAccounts,
  secrets,
];

let harness: OperatorHarness;
let namespace: string;
let uid: string;

beforeAll(async () => {
  harness = await startOperatorHarness();
}, 600_000);

afterAll(() => harness?.stop());

beforeEach(async () => {
  await harness.stopOperator();
  ({ namespace, uid } = await harness.createProject());
});

function manifest(name: string, spec: object = {}): string {
  const nodes = [
    { id: 'trigger', webhook: { path: name } },
    {
      id: 'mail',
      skill: {
        name: 'send_email',
        credential: 'smtp',
        parameters: { to: 'a@example.com', subject: 's', body: 'b' },
      },
    },
  ];
  const metadata = { name };
  return stringify({
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'Workflow',
    metadata,
    spec: { active: true, nodes, ...spec },
  });
}

const smtp = stringify({
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'Credential',
  metadata: { name: 'smtp' },
  spec: { smtp: { host: 'mail.example.com', from: 'a@example.com' } },
});

/** The version of every object in the project. */
async function versions(): Promise<Record<string, string | undefined>> {
  const lists = await Promise.all(KINDS.map((resource) => harness.client.listAll(resource, { namespace })));
  return Object.fromEntries(
    lists.flatMap(({ items }, index) =>
      items.map(({ metadata }) => [`${KINDS[index]?.plural}/${metadata.name}`, metadata.resourceVersion]),
    ),
  );
}

const reconciled = async (controller: string, outcome = '(after|done)'): Promise<void> => {
  await pollUntil(
    `a reconcile of ${controller}`,
    async () => {
      const found = (await harness.metrics()).match(
        new RegExp(
          `windlass_operator_reconciles_total\\{controller="${controller}",outcome="${outcome}"\\} [1-9]`,
        ),
      );
      return found !== null;
    },
    { timeoutMs: 15_000, everyMs: 25 },
  );
};

test('an operator that starts again writes nothing when nothing has changed', async () => {
  harness.startOperator();
  await harness.apply(namespace, `${smtp}---\n${manifest('one')}---\n${manifest('two', { active: false })}`);
  await harness.waitFor(namespace, 'one', READY);
  await harness.waitFor(namespace, 'two', { type: 'Ready', status: 'True', reason: 'Inactive' });
  // No workflow waits for what the operator says of a credential that asks for nothing.
  const isChecked = async () =>
    (await harness.client.get(credentials, { namespace, name: 'smtp' })).status !== undefined;
  await pollUntil('the credential being checked', isChecked, { timeoutMs: 15_000, everyMs: 25 });
  await harness.stopOperator();
  const before = await versions();
  expect(Object.keys(before)).toHaveLength(12);
  harness.startOperator();
  for (const controller of ['workflow', 'credential', 'project', 'counts']) await reconciled(controller);
  const written = ['workflows', 'credentials', 'webhookroutes', 'controllerrevisions', 'deployments'];
  for (const kind of written)
    expect(await harness.metrics()).not.toContain(`verb="apply",resource="${kind}"`);
  await harness.apply(namespace, manifest('three'));
  await harness.waitFor(namespace, 'three', READY);
  expect(await versions()).toMatchObject(before);
});

test('what changed while no operator ran takes effect when one starts', async () => {
  harness.startOperator();
  await harness.apply(namespace, `${smtp}---\n${manifest('one')}---\n${manifest('two')}`);
  await harness.waitFor(namespace, 'one', READY);
  await harness.waitFor(namespace, 'two', READY);
  await harness.stopOperator();
  await harness.apply(namespace, manifest('one', { active: false }));
  await harness.client.delete(workflows, { namespace, name: 'two' });
  await harness.client.delete(roles, { namespace, name: 'windlass-runner' });
  harness.startOperator();
  await harness.waitFor(namespace, 'one', { type: 'Ready', status: 'True', reason: 'Inactive' });
  const found = async () => [
    (await harness.client.find(webhookRoutes, { namespace, name: 'two' })) !== undefined,
    (await harness.client.find(roles, { namespace, name: 'windlass-runner' })) !== undefined,
  ];
  await expect.poll(found, { timeout: 15_000, interval: 25 }).toEqual([false, true]);
});

test('no route opens before the run store has its revision; switching off needs no run store', async () => {
  harness.startOperator();
  await harness.apply(namespace, `${smtp}---\n${manifest('one')}`);
  await harness.waitFor(namespace, 'one', READY);
  await harness.redis.kill();
  try {
    await harness.apply(
      namespace,
      `${manifest('two')}---\n${manifest('one', { active: false, timeout: '5m' })}`,
    );
    await harness.waitFor(namespace, 'two', { type: 'Routed', status: 'False', reason: 'StoreUnavailable' });
    expect(await harness.client.find(webhookRoutes, { namespace, name: 'two' })).toBeUndefined();
    const off = await harness.waitFor(namespace, 'one', {
      type: 'Active',
      status: 'False',
      reason: 'Inactive',
    });
    expect(off.status?.url).toBeUndefined();
    const isClosed = async () =>
      (await harness.client.get(webhookRoutes, { namespace, name: 'one' })).spec.webhook === undefined;
    await pollUntil('the route closed', isClosed, { timeoutMs: 15_000, everyMs: 25 });
  } finally {
    await harness.redis.restart();
  }
  expect((await harness.waitFor(namespace, 'two', READY, 30_000)).status?.url).toBeDefined();
});

test('an operator that starts before the run store shows what that counts soon after it is there', async () => {
  harness.startOperator();
  await harness.apply(namespace, `${smtp}---\n${manifest('one')}`);
  const { metadata } = await harness.waitFor(namespace, 'one', READY);
  await harness.stopOperator();
  await accepted(harness.conn, submissionOf(uid, { workflow: 'one', workflowUid: metadata.uid ?? '' }));
  await harness.redis.kill();
  try {
    harness.startOperator();
    await reconciled('counts', 'waiting');
  } finally {
    await harness.redis.restart();
  }
  const totals = async () => (await harness.client.get(workflows, { namespace, name: 'one' })).status?.runs;
  await expect.poll(totals, { timeout: 15_000, interval: 50 }).toMatchObject({ active: 1 });
});

test('a run that this run store released without an end is ended, and says why', async () => {
  harness.startOperator();
  await harness.apply(namespace, `${smtp}---\n${manifest('one')}`);
  const workflow = await harness.waitFor(namespace, 'one', READY);
  const revision = workflow.status?.revision ?? '';
  const annotations = { [ANNOTATION.recorded]: 'store' };
  const ref = { namespace, name: 'begun' };
  const metadata = { ...ref, annotations };
  const spec = { workflow: 'one' };
  await harness.client.create(workflowRuns, { metadata, spec });
  const epoch = Date.now() + 60_000;
  const nodes = [
    { id: 'trigger', phase: 'Succeeded', attempts: 1 },
    { id: 'mail', phase: 'Running', attempts: 1 },
  ];
  const status = { phase: 'Running', epoch, sequence: 5, revision, nodes };
  await harness.client.patch(workflowRuns, ref, { status }, { type: 'merge', subresource: 'status' });
  await harness.stopOperator();
  harness.startOperator();
  const ending = async () => (await harness.client.get(workflowRuns, ref)).status;
  const lost = { phase: 'Failed', reason: 'DataLost', epoch, sequence: 5 };
  await expect.poll(ending, { timeout: 15_000, interval: 50 }).toMatchObject(lost);
  const { message, nodes: left } = (await ending()) ?? {};
  expect(message).toContain('spec.retryOf: begun');
  expect(left?.map(({ phase }) => phase)).toEqual(['Succeeded', 'Unknown']);
});

test('a record without a status, of a run that ended in this run store, is finished and not executed again', async () => {
  harness.startOperator();
  await harness.apply(namespace, `${smtp}---\n${manifest('one')}`);
  const { metadata, status } = await harness.waitFor(namespace, 'one', READY);
  const submission = submissionOf(uid, {
    workflow: 'one',
    workflowUid: metadata.uid ?? '',
    revision: status?.revision ?? '',
  });
  const name = await accepted(harness.conn, submission);
  await advance(harness.conn, await claimedOne(harness.conn, uid), { end: { phase: 'Succeeded' } });
  const state = await stateOf(harness.conn, uid, name);
  await recorded(harness.conn, state, 'written');
  await harness.conn.command('unlink', keysOf(uid).run(name));
  // Created by an attempt that the API server executed and never answered.
  const controller = true;
  const owner = {
    apiVersion: API_VERSION,
    kind: 'Workflow',
    name: 'one',
    uid: metadata.uid ?? '',
    controller,
  };
  const id = await storeId(harness.conn, uid);
  if (typeof id !== 'string') throw new Error('the store has no id');
  const annotations = { [ANNOTATION.recorded]: id };
  const ref = { namespace, name };
  await harness.client.create(workflowRuns, {
    metadata: { ...ref, annotations, ownerReferences: [owner] },
    spec: { workflow: 'one', revision: status?.revision ?? '' },
  });
  await harness.stopOperator();
  harness.startOperator();
  const ending = async () => (await harness.client.get(workflowRuns, ref)).status;
  const ended = { phase: 'Succeeded', completionTime: new Date(state.endedAt ?? 0).toISOString() };
  await expect.poll(ending, { timeout: 15_000, interval: 50 }).toMatchObject(ended);
  expect(await readCounts(harness.conn, uid, metadata.uid ?? '')).toMatchObject({ succeeded: 1, active: 0 });
});

test('limits that somebody removed from the run store by hand are put again', async () => {
  harness.startOperator();
  await harness.apply(namespace, `${smtp}---\n${manifest('one', { suspend: true })}`);
  const { metadata } = await harness.waitFor(namespace, 'one', { ...READY, reason: 'Suspended' });
  const wf = keysOf(uid).wf(metadata.uid ?? '');
  await harness.conn.command('unlink', wf);
  const suspended = () => harness.conn.command('hget', wf, 'suspended');
  await expect.poll(suspended, { timeout: 30_000, interval: 100 }).toBe('1');
});

test('an account of runners that somebody deleted is back within a minute, without a restart', async () => {
  harness.startOperator();
  await harness.apply(namespace, `${smtp}---\n${manifest('one')}`);
  await harness.waitFor(namespace, 'one', READY);
  await harness.redisCommand('acl', 'deluser', poolAccount(uid));
  const isAccountBack = () => hasPoolAccount(harness.conn, uid);
  await expect.poll(isAccountBack, { timeout: 60_000, interval: 250 }).toBe(true);
});

test('a wiped run store gets back place, revisions, limits and account', async () => {
  harness.startOperator();
  await harness.apply(
    namespace,
    `${smtp}---\n${manifest('one', { concurrency: { limit: 1, policy: 'Reject' } })}`,
  );
  const { status, metadata } = await harness.waitFor(namespace, 'one', READY);
  await harness.redisCommand('flushall');
  await harness.redisCommand('acl', 'deluser', poolAccount(uid));
  await harness.redisCommand('acl', 'save');
  await harness.redis.restart();
  const patience = { timeoutMs: 15_000, everyMs: 100 };
  const keys = () => harness.redisCommand('keys', `wl:{${uid}}:*`);
  const isRevisionBack = async () => (await keys()).includes(`wl:{${uid}}:rev:${status?.revision}`);
  await pollUntil('the revision back', isRevisionBack, patience);
  const isAccountBack = async () => (await hasPoolAccount(harness.conn, uid)) === true;
  await pollUntil('the account back', isAccountBack, patience);
  const limits = () => harness.redisCommand('hget', `wl:{${uid}}:wf:${metadata.uid}`, 'limit');
  await pollUntil('the limits back', async () => (await limits())[0] === '1', patience);
  expect(await openProject(harness.conn, uid)).toMatchObject({ outcome: 'done', fresh: false });
});
