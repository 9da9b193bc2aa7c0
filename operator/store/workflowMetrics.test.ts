import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createLabelBound } from '../shared/metricLabels.ts';
import { createWorkflowMetrics, type WorkflowReading } from './workflowMetrics.ts';

type Values = Partial<{
  running: number;
  waiting: number;
  oldestMs: number;
  succeeded: number;
  isNew: boolean;
  isActive: boolean;
}>;

function reading(workflow: string, values: Values = {}): WorkflowReading {
  const { running = 0, waiting = 0, oldestMs = 0, succeeded = 0, isNew = false, isActive = true } = values;
  const ended = { Succeeded: succeeded, Failed: 0, Cancelled: 0 };
  const measures = { running, waiting, oldestWaitingMs: oldestMs, ended };
  return { namespace: 'shop', workflow, uid: `uid-${workflow}`, isActive, isNew, measures };
}

function shown(limit: number) {
  const registry = new Registry();
  const metrics = createWorkflowMetrics([registry], createLabelBound(limit));
  return {
    seen: (...readings: WorkflowReading[]) => metrics.seen(readings, readings),
    metrics,
    /** The values of a metric, by workflow and the third label. */
    values: async (name: string) => {
      const { values } = (await registry.getSingleMetric(name)?.get()) ?? { values: [] };
      return Object.fromEntries(
        values.map(({ labels: { namespace, workflow, state, phase }, value }) => [
          [namespace, workflow, state ?? phase].filter((part) => part !== undefined).join(' '),
          value,
        ]),
      );
    },
  };
}

test('each workflow shows how many of its runs are executed and wait, and since when', async () => {
  const { seen, values } = shown(10);
  seen(reading('orders', { running: 2, waiting: 7, oldestMs: 61_400 }), reading('mails'));
  expect(await values('windlass_workflow_runs')).toEqual({
    'shop orders running': 2,
    'shop orders waiting': 7,
    'shop mails running': 0,
    'shop mails waiting': 0,
  });
  expect(await values('windlass_workflow_oldest_waiting_seconds')).toEqual({
    'shop orders': 61,
    'shop mails': 0,
  });
});

test('beyond the bound workflows are shown together: runs are added up, of ages the highest counts', async () => {
  const { seen, values } = shown(1);
  const [b, c] = [
    reading('b', { waiting: 2, oldestMs: 9_000 }),
    reading('c', { waiting: 3, oldestMs: 4_000 }),
  ];
  seen(reading('a', { waiting: 1 }), b, c);
  expect(await values('windlass_workflow_runs')).toMatchObject({
    'shop a waiting': 1,
    '_other _other waiting': 5,
  });
  expect(await values('windlass_workflow_oldest_waiting_seconds')).toMatchObject({ '_other _other': 9 });
});

test('a workflow that is called other, in a namespace of that name, is shown apart from those beyond the bound', async () => {
  const { seen, values } = shown(1);
  const named = (namespace: string, workflow: string, waiting: number): WorkflowReading => {
    const uid = `uid-${namespace}-${workflow}`;
    return { ...reading(workflow, { waiting, succeeded: waiting, isNew: true }), namespace, uid };
  };
  seen(named('other', 'other', 1), named('shop', 'orders', 2));
  expect(await values('windlass_workflow_runs')).toMatchObject({
    'other other waiting': 1,
    '_other _other waiting': 2,
  });
  seen(named('shop', 'mails', 4), named('shop', 'orders', 2));
  expect(await values('windlass_workflow_runs_ended_total')).toMatchObject({
    '_other _other Succeeded': 2,
    'shop mails Succeeded': 4,
  });
});

test('a namespace keeps its share of the names when another one comes, and a total that loses its name is removed', async () => {
  const { seen, values } = shown(2);
  const crowd = ['a', 'b', 'c'].map((name) => reading(name, { isActive: false, succeeded: 5, isNew: true }));
  const late = { ...reading('orders', { waiting: 9, succeeded: 1, isNew: true }), namespace: 'bank' };
  seen(...crowd);
  seen(...crowd, late);
  expect(Object.keys(await values('windlass_workflow_runs'))).toEqual(
    expect.arrayContaining(['shop a waiting', 'bank orders waiting', '_other _other waiting']),
  );
  expect(await values('windlass_workflow_runs_ended_total')).not.toHaveProperty('shop b Succeeded');
  expect(await values('windlass_workflow_runs_ended_total')).toMatchObject({
    'shop a Succeeded': 5,
    '_other _other Succeeded': 5,
    'bank orders Succeeded': 1,
  });
});

test('a deleted workflow has no series, and its label is free', async () => {
  const { seen, values } = shown(1);
  seen(reading('a'), reading('b'));
  seen(reading('b', { waiting: 1 }));
  expect(await values('windlass_workflow_runs')).toEqual({ 'shop b running': 0, 'shop b waiting': 1 });
  expect(Object.keys(await values('windlass_workflow_runs_ended_total'))).not.toContain('shop a Succeeded');
});

test('ended runs count from the first reading on, and for a new workflow all of them', async () => {
  const { seen, values } = shown(10);
  seen(reading('old', { succeeded: 100 }));
  seen(reading('old', { succeeded: 103 }), reading('new', { succeeded: 4, isNew: true }));
  expect(await values('windlass_workflow_runs_ended_total')).toMatchObject({
    'shop old Succeeded': 3,
    'shop new Succeeded': 4,
    'shop new Failed': 0,
  });
});

test('counters do not decrease when the run store loses its data', async () => {
  const { seen, values } = shown(10);
  for (const succeeded of [10, 12, 3]) seen(reading('orders', { succeeded }));
  expect(await values('windlass_workflow_runs_ended_total')).toMatchObject({ 'shop orders Succeeded': 5 });
});

test('runs that ended while a workflow could not be read count later', async () => {
  const { seen, metrics, values } = shown(10);
  seen(reading('orders', { succeeded: 10 }));
  metrics.seen([], [reading('orders')]);
  expect(await values('windlass_workflow_runs')).toEqual({});
  seen(reading('orders', { succeeded: 15 }));
  expect(await values('windlass_workflow_runs_ended_total')).toMatchObject({ 'shop orders Succeeded': 5 });
});
