import { expect, test } from 'vitest';
import type { WorkflowRun } from '../../api/kinds.ts';
import type { RunPhase } from '../../api/phase.ts';
import { pruningOf } from './pruning.ts';
import { historyPolicy } from '../store/limits.ts';

const now = new Date('2026-01-02T00:00:00Z');
const policy = { succeeded: 1, failed: 2, ttlMs: 3_600_000, dataTtlMs: Infinity };

function run(name: string, phase: RunPhase | undefined, minutesAgo: number): WorkflowRun {
  const completionTime = new Date(now.getTime() - minutesAgo * 60_000).toISOString();
  return {
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'WorkflowRun',
    metadata: { name, namespace: 'shop' },
    spec: { workflow: 'orders' },
    ...(phase && { status: { phase, completionTime } }),
  };
}

const names = (runs: readonly WorkflowRun[]) =>
  pruningOf(runs, policy, now).prune.map(({ metadata }) => metadata.name);

test('the newest of each kind stay, and cancelled runs count as failed', () => {
  const runs = [
    run('s1', 'Succeeded', 3),
    run('s2', 'Succeeded', 2),
    run('f1', 'Failed', 6),
    run('f2', 'Cancelled', 5),
    run('f3', 'Failed', 4),
  ];
  expect(names(runs)).toEqual(['f1', 's1']);
});

test('twelve test runs displace no live run, and the newest of them stay', () => {
  const tests = Array.from({ length: 12 }, (_, index) => run(`t${index}`, 'Succeeded', index + 1));
  for (const { spec } of tests) spec.test = true;
  const live = [run('s1', 'Succeeded', 50), run('f1', 'Failed', 50)];
  expect(names([...tests, ...live])).toEqual(
    tests
      .slice(1)
      .map(({ metadata }) => metadata.name)
      .toReversed(),
  );
});

test('unfinished runs are never pruned, however many there are', () => {
  expect(names([run('a', 'Running', 999), run('b', undefined, 999), run('c', 'Waiting', 999)])).toEqual([]);
});

test('a run that is being deleted and waits for a finalizer is not deleted again', () => {
  const going = run('s1', 'Succeeded', 3);
  going.metadata.deletionTimestamp = now.toISOString();
  expect(names([going, run('s2', 'Succeeded', 2)])).toEqual([]);
});

test('a run that is too old is pruned, even if it is the only one', () => {
  expect(names([run('old', 'Succeeded', 61)])).toEqual(['old']);
});

test('the next pruning is due when the oldest remaining run becomes too old', () => {
  const { nextMs } = pruningOf([run('s1', 'Succeeded', 20), run('f1', 'Failed', 50)], policy, now);
  expect(nextMs).toBe(10 * 60_000 + 1_000);
});

test('without runs no pruning is due', () => {
  expect(pruningOf([], policy, now)).toEqual({ prune: [], strip: [] });
});

test('the default history keeps ten runs of each kind for a week', () => {
  expect(historyPolicy(undefined)).toEqual({
    succeeded: 10,
    failed: 10,
    ttlMs: 604_800_000,
    dataTtlMs: Infinity,
  });
});

test('data older than dataTTL is removed from runs that stay, once, and the next removal is planned', () => {
  const stripped = run('f3', 'Failed', 30);
  stripped.metadata.annotations = { 'windlass.dev/data-removed': now.toISOString() };
  const runs = [run('s1', 'Succeeded', 5), run('f1', 'Failed', 20), stripped, run('s0', 'Succeeded', 25)];
  const { prune, strip, nextMs } = pruningOf(runs, { ...policy, dataTtlMs: 15 * 60_000 }, now);
  expect(strip.map(({ metadata }) => metadata.name)).toEqual(['f1']);
  expect(prune.map(({ metadata }) => metadata.name)).toEqual(['s0']);
  expect(nextMs).toBe(10 * 60_000 + 1_000);
});

test('a child run whose parent is unfinished stays beyond the history, and does not count there', () => {
  const childOf = (parent: string, name: string): WorkflowRun => {
    const child = run(name, 'Succeeded', 90);
    return { ...child, spec: { ...child.spec, parent: { run: parent, node: 'call' } } };
  };
  const runs = [
    run('s1', 'Succeeded', 1),
    childOf('active', 'c1'),
    childOf('active', 'c2'),
    childOf('ended', 'c3'),
  ];
  const { prune } = pruningOf(runs, policy, now, (name) => name === 'active');
  expect(prune.map(({ metadata }) => metadata.name)).toEqual(['c3']);
});

test('a run of an Evaluation stays as long as that, and loses its data like any other', () => {
  const evaluated = run('e1', 'Succeeded', 999);
  const owner = { apiVersion: 'windlass.dev/v1alpha1', kind: 'Evaluation', name: 'e', uid: 'e' };
  evaluated.metadata.ownerReferences = [owner];
  const runs = [evaluated, run('s1', 'Succeeded', 20)];
  const { prune, strip, nextMs } = pruningOf(runs, { ...policy, dataTtlMs: 3_600_000 }, now);
  expect(prune).toEqual([]);
  expect(strip.map(({ metadata }) => metadata.name)).toEqual(['e1']);
  expect(nextMs).toBe(40 * 60_000 + 1_000);
});
