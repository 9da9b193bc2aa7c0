/** `onFailure` of a workflow: what is refused, what the run store is told, and runs that it lost. */
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { API_VERSION } from '../../../api/group.ts';
import type { Workflow } from '../../../api/kinds.ts';
import { findCondition } from '../../../kube/conditions.ts';
import { workflowRuns, workflows } from '../../../operator/shared/resources.ts';
import { keysOf } from '../../../store/keys.ts';
import type { OperatorHarness } from '../../support/operator/operatorHarness.ts';
import { setUpProject } from '../../support/operator/setUpProject.ts';
import { pollUntil } from '../../support/time/poll.ts';

const SOON = { timeoutMs: 40_000, everyMs: 50 };

let harness: OperatorHarness;
let namespace: string;
let uid: string;

setUpProject((project) => void ({ harness, namespace, uid } = project));

const apply = (name: string, spec: object = {}) =>
  harness.apply(
    namespace,
    stringify({
      apiVersion: API_VERSION,
      kind: 'Workflow',
      metadata: { name },
      spec: { nodes: [{ id: 'trigger', manual: {} }], ...spec },
    }),
  );

const READY = { type: 'Valid', status: 'True' };

/** What a failed run of the workflow starts, as the run store has it. */
const stored = async (workflowUid: string) => {
  const text = await harness.conn.command('hget', keysOf(uid).wf(workflowUid), 'onFailure');
  return typeof text === 'string' ? (JSON.parse(text) as { revision?: string }) : undefined;
};

test('a workflow that names itself is refused at apply', async () => {
  await expect(apply('orders', { onFailure: { workflow: 'orders' } })).rejects.toThrow(
    /spec\.onFailure\.workflow: Invalid value: .*onFailure names the workflow itself/,
  );
});

test('an unknown workflow is named in the condition Valid until it exists; the run store gets each new revision', async () => {
  await apply('orders', { active: true, onFailure: { workflow: 'alarm' } });
  const { metadata } = await harness.waitFor(namespace, 'orders', READY);
  const { uid: orders = '' } = metadata;
  const says = (message: string) =>
    pollUntil(
      'the message of Valid',
      async () => {
        const { status } = await harness.client.get(workflows, { namespace, name: 'orders' });
        return findCondition(status?.conditions, 'Valid')?.message === message;
      },
      SOON,
    );
  const missing =
    'The spec is valid. onFailure: workflow alarm does not exist in this namespace or was never valid, so that a failure starts nothing: apply it, or name another workflow.';
  await says(missing);
  await pollUntil(
    'the target',
    async () => JSON.stringify(await stored(orders)) === '{"workflow":"alarm"}',
    SOON,
  );

  await apply('alarm');
  await says('The spec is valid.');
  const alarm = await harness.waitFor(namespace, 'alarm', READY);
  const target = { workflow: 'alarm', uid: alarm.metadata.uid, revision: alarm.status?.revision };
  await pollUntil(
    'the revision',
    async () => JSON.stringify(await stored(orders)) === JSON.stringify(target),
    SOON,
  );

  await apply('alarm', { nodes: [{ id: 'start', manual: {} }] });
  await pollUntil(
    'the next revision',
    async () => {
      const { status } = await harness.client.get(workflows, { namespace, name: 'alarm' });
      const found = await stored(orders);
      return found?.revision === status?.revision && found?.revision !== target.revision;
    },
    SOON,
  );

  await harness.client.delete(workflows, { namespace, name: 'alarm' });
  await says(missing);
  await apply('orders', { active: true });
  await expect.poll(() => stored(orders), { timeout: SOON.timeoutMs }).toBeUndefined();
});

/** A record of an unfinished run that the run store has lost. */
async function createLost(
  name: string,
  { metadata: { uid: workflowUid = '' }, status }: Workflow,
  { annotations = {}, spec = {} }: { annotations?: Record<string, string>; spec?: object } = {},
): Promise<void> {
  const owner = { apiVersion: API_VERSION, kind: 'Workflow', name: 'orders', uid: workflowUid };
  await harness.client.create(workflowRuns, {
    metadata: {
      name,
      namespace,
      annotations: { 'windlass.dev/recorded': 'an-earlier-store', ...annotations },
      ownerReferences: [{ ...owner, controller: true }],
    },
    spec: { workflow: 'orders', trigger: { type: 'webhook' }, ...spec },
  });
  await harness.client.patch(
    workflowRuns,
    { namespace, name },
    { status: { phase: 'Running', revision: status?.revision ?? '' } },
    { type: 'merge', subresource: 'status' },
  );
}

async function loseStore(): Promise<void> {
  await harness.stopOperator();
  await harness.redisCommand('flushall');
  await harness.redis.restart();
  await harness.conn.ready();
  harness.startOperator();
}

const hasFailed = (name: string) =>
  pollUntil(
    'the end of the run',
    async () => (await harness.client.get(workflowRuns, { namespace, name })).status?.phase === 'Failed',
    SOON,
  );

test('a recorded run that a lost run store cannot continue starts the workflow of its failure', async () => {
  await apply('alarm');
  await apply('orders', { active: true, onFailure: { workflow: 'alarm' } });
  const orders = await harness.waitFor(namespace, 'orders', READY);
  await createLost('lost-1', orders);
  const parent = { run: 'caller-1', node: 'call' };
  const ancestors = { group: 'w', root: 'caller-1', path: ['caller'], waits: true };
  await createLost('caller-1', orders);
  await createLost('child-1', orders, {
    annotations: { 'windlass.dev/ancestors': JSON.stringify({ ...ancestors, waits: false }) },
    spec: { parent },
  });
  await createLost('awaited-1', orders, {
    annotations: { 'windlass.dev/ancestors': JSON.stringify(ancestors) },
    spec: { parent },
  });
  await loseStore();
  const text = await pollUntil(
    'the failure',
    async () =>
      ((await harness.conn.command('hget', keysOf(uid).failures, 'lost-1')) as string | null) ?? undefined,
    SOON,
  );
  expect(JSON.parse(text)).toMatchObject({
    target: { workflow: 'alarm', uid: expect.any(String), revision: expect.any(String) },
    event: { workflow: 'orders', run: 'lost-1', trigger: 'webhook', reason: 'DataLost' },
  });
  for (const name of ['lost-1', 'caller-1', 'child-1', 'awaited-1']) await hasFailed(name);
  const started = (await harness.conn.command('hkeys', keysOf(uid).failures)) as string[];
  expect(started.toSorted()).toEqual(['caller-1', 'child-1', 'lost-1']);
});
