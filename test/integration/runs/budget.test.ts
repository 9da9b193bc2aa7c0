/** Budgets in the run store: what is reserved is never above a limit, and each request is settled once. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectRunStore } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import { readDayUsage, reserve, settle, type Demand } from '../../../runs/budget.ts';
import { dropWorkflow } from '../../../runs/deletion.ts';
import { setWorkflowLimits } from '../../../runs/limits.ts';
import { restoreRun, type RecordedRun } from '../../../runs/restore.ts';
import { beginSeeding, openSeeded } from '../../../runs/seed.ts';
import type { ClaimRef } from '../../../runs/types/claim.ts';
import type { BudgetLimits } from '../../../runs/types/limits.ts';
import { finish } from '../../support/runStore/calls.ts';
import {
  accepted,
  claimed,
  newProject,
  refOf,
  startRunStore,
  stateOf,
  submissionOf,
  type TestStore,
} from '../../support/runStore/runStore.ts';

let store: TestStore;
beforeAll(async () => void (store = await startRunStore({ appendfsync: 'no' })));
afterAll(() => store?.stop());

const DAY_MS = 86_400_000;
const GROUP = 'uid-orders';

/** Claimed runs of one workflow with these budgets, in a new project. */
async function runs(count: number, budget: BudgetLimits = {}, changes: object = {}): Promise<ClaimRef[]> {
  const project = await newProject(store.conn);
  for (let each = 0; each < count; each += 1) await accepted(store.conn, submissionOf(project, changes));
  await setBudget(project, budget);
  return (await claimed(store.conn, project, count)).map(refOf);
}

async function setBudget(project: string, budget: BudgetLimits): Promise<void> {
  const limits = { workflowUid: GROUP, policy: 'Queue' as const, deadlineMs: 60_000, budget };
  expect(await setWorkflowLimits(store.conn, project, limits)).toEqual({ outcome: 'done' });
}

let ids = 0;
const demand = (changes: Partial<Demand> = {}): Demand => ({
  id: `call-${(ids += 1)}#1.1`,
  step: 'a',
  tokens: 100,
  cost: 1_000,
  currency: 'USD',
  ...changes,
});

const usageOf = async ({ project, run }: ClaimRef) => (await stateOf(store.conn, project, run)).usage;
const dayOf = ({ project }: ClaimRef, group = GROUP) => readDayUsage(store.conn, project, group);
/** Sets the project's clock, which never goes back. */
const setClock = ({ project }: ClaimRef, at: number) =>
  store.conn.command('hset', keysOf(project).meta, 'clock', at);

const reserved = { outcome: 'reserved', isLimited: true };

test('without a budget requests are counted and not limited', async () => {
  const [ref] = await runs(1);
  expect(await reserve(store.conn, ref!, demand())).toEqual({ outcome: 'reserved', isLimited: false });
  expect(await usageOf(ref!)).toEqual({ tokens: 100, estimated: 100, cost: 1_000, currency: 'USD' });
  expect(await dayOf(ref!)).toMatchObject({ tokens: 100, cost: 1_000, currency: 'USD' });
  expect(await readDayUsage(store.conn, ref!.project)).toMatchObject({ tokens: 100 });
});

test.each<[string, BudgetLimits, Partial<Demand>]>([
  ['step', {}, { limit: { tokens: 250 } }],
  ['run', { run: { tokens: 250 } }, {}],
  ['day', { day: { tokens: 250 } }, {}],
  ['project', { project: { tokens: 250 } }, {}],
])('the budget of a %s admits no request that could exceed it', async (scope, budget, changes) => {
  const [ref] = await runs(1, budget);
  expect(await reserve(store.conn, ref!, demand(changes))).toEqual(reserved);
  expect(await reserve(store.conn, ref!, demand(changes))).toEqual(reserved);
  expect(await reserve(store.conn, ref!, demand(changes))).toEqual({
    outcome: 'exceeded',
    scope,
    what: 'tokens',
    limit: 250,
    used: 200,
  });
  expect(await usageOf(ref!)).toMatchObject({ tokens: 200 });
});

test('a budget of cost admits requests up to exactly its limit, in nano-units', async () => {
  const [ref] = await runs(1, { run: { cost: 3_000_000_000_000_001 } });
  const dear = demand({ cost: 3_000_000_000_000_000 });
  expect(await reserve(store.conn, ref!, dear)).toEqual(reserved);
  expect(await reserve(store.conn, ref!, demand({ cost: 2 }))).toMatchObject({
    outcome: 'exceeded',
    what: 'cost',
    limit: 3_000_000_000_000_001,
    used: 3_000_000_000_000_000,
  });
  expect(await reserve(store.conn, ref!, demand({ cost: 1 }))).toEqual(reserved);
});

test('a model without a price is refused under a budget of cost alone', async () => {
  const { cost: _, ...unpriced } = demand();
  const [ref] = await runs(1, { day: { cost: 5 } });
  expect(await reserve(store.conn, ref!, unpriced)).toEqual({ outcome: 'price-unknown', scope: 'day' });
  await setBudget(ref!.project, { day: { tokens: 1_000 } });
  expect(await reserve(store.conn, ref!, unpriced)).toEqual(reserved);
});

test('requests of many runs over several connections at the same time are never above a budget', async () => {
  const refs = await runs(40, { day: { tokens: 1_000 }, project: { tokens: 1_050 } });
  const conns = Array.from({ length: 4 }, () => connectRunStore({ url: store.redis.url, name: 'runner' }));
  await Promise.all(conns.map((conn) => conn.ready()));
  const outcomes = await Promise.all(
    refs.flatMap((ref, at) => [1, 2, 3].map(() => reserve(conns[at % 4]!, ref, demand()))),
  );
  await Promise.all(conns.map((conn) => conn.close()));
  expect(outcomes.filter(({ outcome }) => outcome === 'reserved')).toHaveLength(10);
  expect(await dayOf(refs[0]!)).toMatchObject({ tokens: 1_000 });
});

test('a request is reserved once, whoever repeats the call, and settled once', async () => {
  const [ref] = await runs(1, { run: { tokens: 150 } });
  const call = demand();
  expect(await reserve(store.conn, ref!, call)).toEqual(reserved);
  expect(await reserve(store.conn, ref!, call)).toEqual(reserved);
  expect(await usageOf(ref!)).toMatchObject({ tokens: 100, estimated: 100 });
  const used = { tokens: 30, cost: 400 };
  expect(await settle(store.conn, ref!, call.id, used)).toEqual({ outcome: 'settled' });
  expect(await settle(store.conn, ref!, call.id, used)).toEqual({ outcome: 'unknown' });
  expect(await usageOf(ref!)).toEqual({ tokens: 30, estimated: 0, cost: 400, currency: 'USD' });
  expect(await dayOf(ref!)).toMatchObject({ tokens: 30, cost: 400 });
  expect(await reserve(store.conn, ref!, demand())).toEqual(reserved);
});

test('what a request uses beyond its reservation is charged, and stops the next one', async () => {
  const [ref] = await runs(1);
  const call = demand({ limit: { tokens: 200 } });
  await reserve(store.conn, ref!, call);
  await settle(store.conn, ref!, call.id, { tokens: 250, cost: 9_000 });
  expect(await reserve(store.conn, ref!, demand({ limit: { tokens: 200 } }))).toMatchObject({
    outcome: 'exceeded',
    scope: 'step',
    used: 250,
  });
});

test('a reservation without usage stays charged as estimated', async () => {
  const [ref] = await runs(1);
  const call = demand();
  await reserve(store.conn, ref!, call);
  expect(await settle(store.conn, ref!, call.id, undefined)).toEqual({ outcome: 'estimated' });
  expect(await usageOf(ref!)).toMatchObject({ tokens: 100, estimated: 100 });
  expect(await dayOf(ref!)).toMatchObject({ tokens: 100 });
});

test('two deliveries of one request are charged both, and each is settled for itself', async () => {
  const [ref] = await runs(1);
  await reserve(store.conn, ref!, demand({ id: 'a/1/m1#1.1' }));
  await reserve(store.conn, ref!, demand({ id: 'a/1/m1#2.1' }));
  expect(await settle(store.conn, ref!, 'a/1/m1#2.1', { tokens: 10, cost: 10 })).toEqual({
    outcome: 'settled',
  });
  expect(await usageOf(ref!)).toMatchObject({ tokens: 110, estimated: 100, cost: 1_010 });
});

test('only the runner that holds the run reserves', async () => {
  const [ref] = await runs(1);
  expect(await reserve(store.conn, { ...ref!, token: 'other/uid-orders/x' }, demand())).toEqual({
    outcome: 'fenced',
  });
  expect(await usageOf(ref!)).toBeUndefined();
});

test('a day ends at midnight UTC of the project clock, and what it settles later does not change the next', async () => {
  const [ref] = await runs(1, { day: { tokens: 150 }, project: { tokens: 150 } });
  const midnight = (Math.floor(Date.now() / DAY_MS) + 2) * DAY_MS;
  await setClock(ref!, midnight - 5_000);
  const evening = demand();
  expect(await reserve(store.conn, ref!, evening)).toEqual(reserved);
  expect(await reserve(store.conn, ref!, demand())).toMatchObject({ outcome: 'exceeded', scope: 'day' });
  await setClock(ref!, midnight + 5_000);
  expect(await reserve(store.conn, ref!, demand())).toEqual(reserved);
  await settle(store.conn, ref!, evening.id, { tokens: 10, cost: 10 });
  expect(await dayOf(ref!)).toMatchObject({ day: midnight / DAY_MS, tokens: 100 });
  expect(await usageOf(ref!)).toMatchObject({ tokens: 110 });
});

test('live runs and test runs of a workflow have a day each, and share that of the project', async () => {
  const [live] = await runs(1, { day: { tokens: 150 }, project: { tokens: 250 } });
  await reserve(store.conn, live!, demand());
  await accepted(store.conn, submissionOf(live!.project, { test: true }));
  const [trial] = (await claimed(store.conn, live!.project, 1)).map(refOf);
  expect(await reserve(store.conn, trial!, demand())).toEqual(reserved);
  expect(await reserve(store.conn, trial!, demand())).toMatchObject({ scope: 'day', used: 100 });
  expect(await readDayUsage(store.conn, live!.project)).toMatchObject({ tokens: 200 });
});

test('a restored run continues with what its record says that it used', async () => {
  const project = `restored-${process.pid}`;
  const begun = await beginSeeding(store.conn, project);
  if (begun.outcome !== 'begun') throw new Error(begun.outcome);
  const usage = { tokens: 120, estimated: 20, cost: 5_000, currency: 'EUR' };
  const run: RecordedRun = {
    run: 'one',
    uid: 'uid-one',
    workflow: 'orders',
    workflowUid: GROUP,
    revision: 'orders-1',
    trigger: 'webhook',
    test: false,
    recordedBy: 'an-earlier-store',
    input: '{}',
    epoch: 1,
    sequence: 1,
    acceptedAt: 1_700_000_000_000,
    timeoutMs: 60_000,
    nodes: [],
    usage,
  };
  await restoreRun(store.conn, project, run, begun.seeding);
  await openSeeded(store.conn, begun.seeding);
  await setBudget(project, { run: { tokens: 200 } });
  const [ref] = (await claimed(store.conn, project, 1)).map(refOf);
  expect(await usageOf(ref!)).toEqual(usage);
  expect(await reserve(store.conn, ref!, demand())).toMatchObject({ outcome: 'exceeded', used: 120 });
  expect(await dayOf(ref!)).toBeUndefined();
});

test('a lowered or lifted budget applies at once', async () => {
  const [ref] = await runs(1, { run: { tokens: 150 } });
  await reserve(store.conn, ref!, demand());
  expect(await reserve(store.conn, ref!, demand())).toMatchObject({ outcome: 'exceeded', scope: 'run' });
  await setBudget(ref!.project, {});
  expect(await reserve(store.conn, ref!, demand())).toEqual({ outcome: 'reserved', isLimited: false });
});

test('a run that ends keeps its usage and nothing else, and a workflow that is gone no usage', async () => {
  const [ref] = await runs(1);
  const call = demand();
  await reserve(store.conn, ref!, call);
  await finish(store.conn, ref!, { phase: 'Failed' });
  expect(await store.conn.command('exists', keysOf(ref!.project).spent(ref!.run))).toBe(0);
  expect(await settle(store.conn, ref!, call.id, { tokens: 1, cost: 1 })).toEqual({ outcome: 'unknown' });
  expect(await usageOf(ref!)).toMatchObject({ tokens: 100, estimated: 100 });
  await dropWorkflow(store.conn, ref!.project, GROUP);
  expect(await dayOf(ref!)).toBeUndefined();
  expect(await readDayUsage(store.conn, ref!.project)).toMatchObject({ tokens: 100 });
});
