import { expect, test } from 'vitest';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { sleepNotes } from './sleep.ts';

const SLEEP_AFTER_MS = 900_000;

const polled = (
  pollIntervalSeconds: number | undefined,
  others: Partial<WorkflowSpec> = {},
): WorkflowSpec => ({
  active: true,
  nodes: [
    {
      id: 'inbox',
      mail: { credential: 'box', ...(pollIntervalSeconds !== undefined && { pollIntervalSeconds }) },
    },
  ],
  ...others,
});

test('a trigger whose interval keeps runners awake is named, with the interval that lets them sleep', () => {
  expect(sleepNotes(polled(undefined), SLEEP_AFTER_MS)).toEqual([
    'node inbox: mail.pollIntervalSeconds: the runners of the project do not sleep while they poll every 60 s: set 300 or more to let them sleep.',
  ]);
  expect(sleepNotes(polled(299), SLEEP_AFTER_MS)).toHaveLength(1);
});

test.each([
  ['the interval is long enough', polled(300), SLEEP_AFTER_MS],
  ['runners of the project never sleep', polled(60), 0],
  ['the workflow is inactive', polled(60, { active: false }), SLEEP_AFTER_MS],
  ['the workflow is suspended', polled(60, { suspend: true }), SLEEP_AFTER_MS],
  [
    'the trigger is not polled',
    { active: true, nodes: [{ id: 'trigger', schedule: { cron: '* * * * *' } }] },
    SLEEP_AFTER_MS,
  ],
])('nothing is said where %s', (_situation, spec, sleepAfterMs) => {
  expect(sleepNotes(spec, sleepAfterMs)).toEqual([]);
});
