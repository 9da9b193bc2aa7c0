/** The Events that `kubectl describe` shows of workflows and credentials. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { events, secrets } from '../../../kube/resource.ts';
import { credentials, workflows } from '../../../operator/shared/resources.ts';
import { advance } from '../../../runs/advance.ts';
import { keysOf } from '../../../store/keys.ts';
import { kubectl } from '../../support/cluster/kubectl.ts';
import { startOperatorHarness, type OperatorHarness } from '../../support/operator/operatorHarness.ts';
import { pollUntilPasses } from '../../support/time/poll.ts';
import { accepted, claimed, refOf, submissionOf } from '../../support/runStore/runStore.ts';

const SOON = { timeoutMs: 30_000, everyMs: 50 };
const READY = { type: 'Ready', status: 'True', reason: 'Serving' };

let harness: OperatorHarness;

beforeAll(async () => {
  harness = await startOperatorHarness();
  harness.startOperator();
}, 600_000);

afterAll(() => harness?.stop());

/** What was told of the object, each once, in no order. */
async function told(namespace: string, kind: string, name: string): Promise<Set<string>> {
  const { items } = await harness.client.list(events, { namespace });
  const own = items.filter(({ regarding }) => regarding?.kind === kind && regarding.name === name);
  return new Set(own.map(({ type, reason }) => `${type} ${reason}`));
}

test('what a workflow and a credential lack, and that they have become ready, is told as Events', async () => {
  const { namespace } = await harness.createProject();
  const parameters = { to: 'a@example.com', subject: 's', body: 'b' };
  const nodes = [
    { id: 'trigger', manual: {} },
    { id: 'mail', skill: { name: 'send_email', credential: 'mail', parameters } },
  ];
  await harness.client.create(workflows, {
    metadata: { namespace, name: 'orders' },
    spec: { active: true, nodes },
  });
  const isTold = (kind: string, name: string, occurrence: string) =>
    pollUntilPasses(
      `the Event "${occurrence}"`,
      async () => expect(await told(namespace, kind, name)).toContain(occurrence),
      SOON,
    );
  await isTold('Workflow', 'orders', 'Warning CredentialMissing');
  const passwordRef = { name: 'mail', key: 'password' };
  const smtp = { host: 'mail.example.com', from: 'a@example.com', username: 'a', passwordRef };
  await harness.client.create(credentials, { metadata: { namespace, name: 'mail' }, spec: { smtp } });
  await isTold('Credential', 'mail', 'Warning SecretMissing');
  await isTold('Workflow', 'orders', 'Warning CredentialNotReady');
  await harness.client.create(secrets, { metadata: { namespace, name: 'mail' }, data: { password: 'Mw==' } });
  await harness.waitFor(namespace, 'orders', READY);
  await isTold('Credential', 'mail', 'Normal Checked');
  await isTold('Workflow', 'orders', 'Normal Serving');
  const described = await kubectl(harness.server, [
    '-n',
    namespace,
    'describe',
    'workflows.windlass.dev',
    'orders',
  ]);
  expect(described).toMatch(
    /Warning +CredentialMissing .*Ready=False: node mail: Credential mail does not exist/,
  );
});

test('a workflow whose spec becomes invalid is told once, by the reason of Valid', async () => {
  const { namespace } = await harness.createProject();
  const metadata = { namespace, name: 'orders' };
  await harness.client.create(workflows, {
    metadata,
    spec: { active: true, nodes: [{ id: 'trigger', manual: {} }] },
  });
  await harness.waitFor(namespace, 'orders', READY);
  const nodes = [
    { id: 'trigger', manual: {} },
    { id: 'a', skill: { name: 'no_such_skill' } },
  ];
  await harness.client.patch(workflows, metadata, { spec: { nodes } }, { type: 'merge' });
  await pollUntilPasses(
    'the Events',
    async () =>
      expect(await told(namespace, 'Workflow', 'orders')).toEqual(
        new Set(['Normal Serving', 'Warning UnknownSkill']),
      ),
    SOON,
  );
});

test('five hundred failed runs of a workflow cost one Event', async () => {
  const runs = 500;
  const { namespace, uid: project } = await harness.createProject();
  const ref = { namespace, name: 'orders' };
  await harness.client.create(workflows, {
    metadata: ref,
    spec: { active: true, nodes: [{ id: 'trigger', manual: {} }] },
  });
  const { metadata } = await harness.waitFor(namespace, 'orders', READY);
  const submission = submissionOf(project, { workflowUid: metadata.uid ?? '', trigger: 'execute' });
  await Promise.all(Array.from({ length: runs }, () => accepted(harness.conn, submission)));
  for (let ended = 0; ended < runs; ) {
    const claims = await claimed(harness.conn, project, 50);
    await Promise.all(
      claims.map((claim) => advance(harness.conn, refOf(claim), { end: { phase: 'Failed' } })),
    );
    ended += claims.length;
  }
  // The counts are read at once when a workflow is suspended.
  await harness.client.patch(workflows, ref, { spec: { suspend: true } }, { type: 'merge' });
  await pollUntilPasses(
    'the failed runs in the status',
    async () => expect((await harness.client.get(workflows, ref)).status?.runs?.failed).toBe(runs),
    SOON,
  );
  const { items } = await harness.client.list(events, { namespace });
  const failed = items.filter(({ reason }) => reason === 'RunsFailed');
  expect(failed.map(({ type, regarding }) => `${type} ${regarding?.kind}/${regarding?.name}`)).toEqual([
    'Warning Workflow/orders',
  ]);
});

test('a project that fills its share of the run store is named by its active workflows, with one Event each', async () => {
  const { namespace, uid } = await harness.createProject();
  const nodes = [{ id: 'trigger', webhook: { path: 'orders' } }];
  for (const [name, active] of Object.entries({ orders: true, returns: false }))
    await harness.client.create(workflows, { metadata: { namespace, name }, spec: { active, nodes } });
  await harness.waitFor(namespace, 'orders', READY);
  await harness.redisCommand('hset', keysOf(uid).meta, 'bytes', String(2 ** 40));
  const full = { type: 'Active', status: 'False', reason: 'ProjectFull' };
  await harness.waitFor(namespace, 'orders', full, 30_000);
  await pollUntilPasses(
    'the Event of the active workflow',
    async () => expect(await told(namespace, 'Workflow', 'orders')).toContain('Warning ProjectFull'),
    SOON,
  );
  expect(await told(namespace, 'Workflow', 'returns')).not.toContain('Warning ProjectFull');
});
