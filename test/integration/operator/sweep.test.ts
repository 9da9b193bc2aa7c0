/**
 * What nobody told the operator of, because it did not run: it finds out, and the run store keeps nothing of
 * it.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { namespaces } from '../../../kube/resource.ts';
import { webhookRoutes, workflows } from '../../../operator/shared/resources.ts';
import { ensurePoolAccount } from '../../../store/accounts.ts';
import { hasPoolAccount } from '../../support/runStore/calls.ts';
import { keysOf } from '../../../store/keys.ts';
import { closeProject, openProject } from '../../../runs/project.ts';
import { unfinishedRuns } from '../../support/runStore/unfinishedRuns.ts';
import { setQuota } from '../../support/runStore/calls.ts';
import { readUse } from '../../../runs/storeUse.ts';
import { submit } from '../../../runs/submit.ts';
import { startOperatorHarness, type OperatorHarness } from '../../support/operator/operatorHarness.ts';
import { deleteNamespace } from '../../support/operator/projectState.ts';
import { accepted, submissionOf } from '../../support/runStore/runStore.ts';

const WITHIN = { timeout: 40_000, interval: 50 };
const GONE = '6f1d3d0e-0000-4000-8000-000000000000';

let harness: OperatorHarness;
let namespace: string;
let uid: string;

beforeAll(async () => {
  harness = await startOperatorHarness();
}, 600_000);

afterAll(() => harness?.stop());

beforeEach(async () => {
  harness.startOperator();
  ({ namespace, uid } = await harness.createProject());
});

async function applyWorkflow(name: string): Promise<string> {
  const object = { apiVersion: 'windlass.dev/v1alpha1', kind: 'Workflow', metadata: { name } };
  const nodes = [{ id: 'trigger', manual: {} }];
  await harness.apply(namespace, stringify({ ...object, spec: { active: true, nodes } }));
  const { metadata } = await harness.waitFor(namespace, name, { type: 'Ready', status: 'True' });
  return metadata.uid ?? '';
}

const keys = (project: string) => harness.redisCommand('keys', `wl:{${project}}:*`);

test('keys and account of a namespace that was deleted while no operator ran are removed, and no others', async () => {
  const workflowUid = await applyWorkflow('kept');
  const kept = await accepted(harness.conn, submissionOf(uid, { workflow: 'kept', workflowUid }));
  await harness.stopOperator();
  await openProject(harness.conn, GONE);
  await accepted(harness.conn, submissionOf(GONE, { dedupeKey: 'a' }));
  await ensurePoolAccount(harness.conn, GONE, 'a'.repeat(64));
  harness.startOperator();
  await expect.poll(() => keys(GONE), WITHIN).toEqual(['']);
  expect(await hasPoolAccount(harness.conn, GONE)).toBe(false);
  expect(await hasPoolAccount(harness.conn, uid)).toBe(true);
  expect(await unfinishedRuns(harness.conn, uid, workflowUid)).toEqual([kept]);
});

test('what is left of a namespace goes also when the operator starts before the run store', async () => {
  await harness.stopOperator();
  await openProject(harness.conn, GONE);
  await ensurePoolAccount(harness.conn, GONE, 'a'.repeat(64));
  const leaders = () => harness.log.messages().filter((message) => message === 'acquired lease').length;
  const before = leaders();
  await harness.redis.kill();
  try {
    harness.startOperator();
    await expect.poll(leaders, WITHIN).toBe(before + 1);
  } finally {
    await harness.redis.restart();
  }
  await expect.poll(() => keys(GONE), WITHIN).toEqual(['']);
  await expect.poll(() => hasPoolAccount(harness.conn, GONE), WITHIN).toBe(false);
});

test('what was left of a namespace whose removal was interrupted goes, too', async () => {
  await harness.stopOperator();
  await openProject(harness.conn, GONE);
  await accepted(harness.conn, submissionOf(GONE));
  await harness.conn.command('unlink', keysOf(GONE).meta);
  harness.startOperator();
  await expect.poll(() => keys(GONE), WITHIN).toEqual(['']);
});

test('a namespace that is deleted and made again under the same name inherits nothing', async () => {
  const event = { workflow: 'same', dedupeKey: 'delivery-1' };
  const before = submissionOf(uid, { ...event, workflowUid: await applyWorkflow('same') });
  const run = await accepted(harness.conn, before);
  await deleteNamespace(harness.client, namespace);
  await expect.poll(() => keys(uid), WITHIN).toEqual(['']);
  expect(await hasPoolAccount(harness.conn, uid)).toBe(false);
  const { metadata } = await harness.client.create(namespaces, { metadata: { name: namespace } });
  const again = metadata.uid ?? '';
  const workflowUid = await applyWorkflow('same');
  expect(await unfinishedRuns(harness.conn, again, workflowUid)).toEqual([]);
  const submitted = await submit(harness.conn, submissionOf(again, { ...event, workflowUid }));
  expect(submitted).toMatchObject({ outcome: 'accepted', duplicate: false });
  expect(submitted).not.toMatchObject({ run });
  expect(await submit(harness.conn, before)).toMatchObject({ outcome: 'unavailable', why: 'no-store' });
});

test('runs of a workflow that was deleted with its route while no operator ran are cancelled, and it is forgotten', async () => {
  const workflowUid = await applyWorkflow('gone');
  await accepted(harness.conn, submissionOf(uid, { workflow: 'gone', workflowUid }));
  await harness.stopOperator();
  await harness.client.delete(workflows, { namespace, name: 'gone' });
  await harness.client.delete(webhookRoutes, { namespace, name: 'gone' });
  harness.startOperator();
  await expect.poll(() => unfinishedRuns(harness.conn, uid, workflowUid), WITHIN).toEqual([]);
  await expect.poll(() => keys(uid), WITHIN).not.toContain(keysOf(uid).deleting);
  expect(await harness.conn.command('hkeys', keysOf(uid).wf(workflowUid))).not.toContain('accepted');
});

test('nothing is accepted for a project that was closed, and nothing of it comes back', async () => {
  await openProject(harness.conn, GONE);
  await closeProject(harness.conn, GONE);
  const outcomes = [await submit(harness.conn, submissionOf(GONE)), await setQuota(harness.conn, GONE, 1)];
  for (const outcome of outcomes) expect(outcome).toMatchObject({ outcome: 'unavailable', why: 'no-store' });
  expect(await keys(GONE)).toEqual(['']);
});

test('the quota of a project follows the memory of the run store, and a flood of events leaves room for others', async () => {
  const workflowUid = await applyWorkflow('flood');
  const quota = async () => {
    const use = await readUse(harness.conn, uid);
    return use && 'quota' in use ? use.quota : undefined;
  };
  await expect.poll(quota, WITHIN).toBe(256 * 1024 * 1024);
  await harness.redisCommand('config', 'set', 'maxmemory', String(50 * 1024 * 1024));
  await expect.poll(quota, WITHIN).toBeLessThan(15 * 1024 * 1024);
  const input = JSON.stringify({ text_content: 'x'.repeat(100_000), data_content: null });
  const flood = async () => {
    for (let count = 0; count < 60; count += 1) {
      const outcome = await submit(
        harness.conn,
        submissionOf(uid, { workflow: 'flood', workflowUid, input }),
      );
      if (outcome.outcome !== 'accepted') return outcome;
    }
    return 'more was accepted';
  };
  await expect
    .poll(flood, { timeout: 60_000, interval: 10 })
    .toMatchObject({ outcome: 'unavailable', why: 'full' });
  const used = await harness.redisCommand('info', 'memory');
  const bytes = Number(used.find((line) => line.startsWith('used_memory:'))?.split(':')[1]);
  expect(bytes).toBeLessThan(0.7 * 50 * 1024 * 1024);
  expect(Number(await quota())).toBeGreaterThan(0);
}, 90_000);
