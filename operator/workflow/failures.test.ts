import { expect, test } from 'vitest';
import type { Workflow } from '../../api/kinds.ts';
import type { Occurrence } from '../../kube/events.ts';
import { createManualClock } from '../../test/support/manualClock.ts';
import { createFailureReports } from './failures.ts';

const workflow = (failedBefore?: number, uid = 'a'): Workflow => ({
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'Workflow',
  metadata: { namespace: 'shop', name: 'orders', uid },
  spec: { active: true, nodes: [] },
  ...(failedBefore !== undefined && {
    status: { conditions: [], runs: { succeeded: 0, failed: failedBefore, active: 0 } },
  }),
});

function start() {
  const clock = createManualClock();
  const told: Occurrence[] = [];
  const reports = createFailureReports({ record: (_object, occurrence) => told.push(occurrence) > 0 }, clock);
  const counts = () => told.map(({ note }) => Number.parseInt(note, 10));
  return { clock, told, reports, counts };
}

test('the first failed run is told at once, with where to look', () => {
  const { reports, told } = start();
  reports.note(workflow(), { failed: 1, cancelled: 0 });
  expect(told).toEqual([
    {
      type: 'Warning',
      reason: 'RunsFailed',
      action: 'Execute',
      note: '1 run has failed since the last Event of this kind. Look at them: kubectl -n shop get workflowruns --field-selector spec.workflow=orders,status.phase=Failed',
    },
  ]);
});

test('ten thousand failed runs within five minutes are told by two Events', async () => {
  const { reports, counts, clock } = start();
  for (let failed = 100; failed <= 10_000; failed += 100) {
    reports.note(workflow(), { failed, cancelled: 0 });
    await clock.advance(3_000);
  }
  reports.note(workflow(), { failed: 10_000, cancelled: 0 });
  expect(counts()).toEqual([100, 9_900]);
});

test('nothing is told while no further run fails, and of cancelled runs never', async () => {
  const { reports, counts, clock } = start();
  reports.note(workflow(), { failed: 2, cancelled: 0 });
  await clock.advance(600_000);
  reports.note(workflow(), { failed: 2, cancelled: 9 });
  expect(counts()).toEqual([2]);
});

test('after a restart of the operator only what has failed since the status was written is told', () => {
  const { reports, counts } = start();
  reports.note(workflow(7), { failed: 5, cancelled: 2 });
  expect(counts()).toEqual([]);
  const other = start();
  other.reports.note(workflow(7), { failed: 8, cancelled: 2 });
  expect(other.counts()).toEqual([3]);
});

test('a run store that has lost its data, and a new workflow of the same name, count anew', async () => {
  const { reports, counts, clock } = start();
  reports.note(workflow(), { failed: 50, cancelled: 0 });
  await clock.advance(300_000);
  reports.note(workflow(50), { failed: 0, cancelled: 0 });
  reports.note(workflow(0), { failed: 3, cancelled: 0 });
  reports.note(workflow(undefined, 'b'), { failed: 2, cancelled: 0 });
  expect(counts()).toEqual([50, 3, 2]);
});
