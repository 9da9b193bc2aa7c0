import { expect, test } from 'vitest';
import type { Workflow } from '../../api/kinds.ts';
import type { Occurrence } from '../../kube/events.ts';
import { createManualClock } from '../../test/support/time/manualClock.ts';
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
  let isFull = false;
  const record = (_object: object, occurrence: Occurrence) => !isFull && told.push(occurrence) > 0;
  const reports = createFailureReports({ record }, clock);
  const counts = () => told.map(({ note }) => Number.parseInt(note, 10));
  return { clock, told, reports, counts, fill: (full: boolean) => void (isFull = full) };
}

test('the first failed run is reported at once, with the command to list failed runs', () => {
  const { reports, told } = start();
  reports.note(workflow(), { failed: 1 });
  expect(told).toEqual([
    {
      type: 'Warning',
      reason: 'RunsFailed',
      action: 'Execute',
      note: '1 run has failed since the last Event of this kind. List them: kubectl -n shop get workflowruns --field-selector spec.workflow=orders,status.phase=Failed',
    },
  ]);
});

test('ten thousand failed runs within five minutes cause two Events', async () => {
  const { reports, counts, clock } = start();
  for (let failed = 100; failed <= 10_000; failed += 100) {
    reports.note(workflow(), { failed });
    await clock.advance(3_000);
  }
  reports.note(workflow(), { failed: 10_000 });
  expect(counts()).toEqual([100, 9_900]);
});

test('no Event is recorded while no further run fails', async () => {
  const { reports, counts, clock } = start();
  reports.note(workflow(), { failed: 2 });
  await clock.advance(600_000);
  reports.note(workflow(), { failed: 2 });
  expect(counts()).toEqual([2]);
});

test('after a restart of the operator, failures since the last Event are reported', () => {
  const { reports, counts } = start();
  expect(reports.note(workflow(90), { failed: 8, reported: 5 })).toBe(8);
  expect(counts()).toEqual([3]);
});

test('cancelled runs are never reported, also if they ended while no operator ran', () => {
  const { reports, counts } = start();
  expect(reports.note(workflow(7), { failed: 5, reported: 5 })).toBeUndefined();
  expect(counts()).toEqual([]);
});

test('failures whose Event was dropped are in the next one, also after a restart', () => {
  const { reports, counts, fill } = start();
  fill(true);
  expect(reports.note(workflow(), { failed: 4 })).toBe(0);
  expect(reports.note(workflow(), { failed: 6, reported: 0 })).toBeUndefined();
  const other = start();
  expect(other.reports.note(workflow(6), { failed: 7, reported: 0 })).toBe(7);
  expect(other.counts()).toEqual([7]);
  fill(false);
  expect(reports.note(workflow(), { failed: 7, reported: 0 })).toBe(7);
  expect(counts()).toEqual([7]);
});

test('failures from before the run store had the number of reported ones are not reported', async () => {
  const { reports, counts, clock } = start();
  expect(reports.note(workflow(7), { failed: 5 })).toBe(5);
  await clock.advance(300_000);
  expect(reports.note(workflow(9), { failed: 6, reported: 5 })).toBe(6);
  expect(counts()).toEqual([1]);
});

test('the number of reported failures is returned until the run store has it', () => {
  const { reports } = start();
  expect(reports.note(workflow(), { failed: 2 })).toBe(2);
  expect(reports.note(workflow(), { failed: 2 })).toBe(2);
  expect(reports.note(workflow(), { failed: 2, reported: 2 })).toBeUndefined();
});

test('counting starts again after a loss of the run store, and for a new workflow of the same name', async () => {
  const { reports, counts, clock } = start();
  reports.note(workflow(), { failed: 50 });
  await clock.advance(300_000);
  reports.note(workflow(50), { failed: 0 });
  reports.note(workflow(0), { failed: 3 });
  reports.note(workflow(undefined, 'b'), { failed: 2 });
  expect(counts()).toEqual([50, 3, 2]);
});
