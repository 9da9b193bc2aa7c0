import { expect, test } from 'vitest';
import { consequencesOf, resumptionOf, suspensionOf } from './consequences.ts';

const item = { active: true, running: 0, waiting: 0 };
const none = { number: 0, isAll: true };

test.each([
  [{ ...item, trigger: 'webhook' as const, url: 'http://x/y' }, 'Its webhook stops working: http://x/y'],
  [{ ...item, trigger: 'webhook' as const }, 'Its webhook stops working.'],
  [{ ...item, trigger: 'schedule' as const }, 'Its schedule no longer starts runs.'],
  [{ ...item, trigger: 'mail' as const }, 'Its account is no longer polled, and the cursor is lost.'],
  [{ ...item, trigger: 'bot' as const }, 'Messages to its bot no longer start runs.'],
])('deleting %j lists what happens to its trigger', (deleted, sentence) => {
  expect(consequencesOf(deleted, none)).toEqual([sentence, 'It has no recorded runs.']);
});

test('an inactive or missing trigger has no consequences', () => {
  const rest = ['It has no recorded runs.'];
  expect(consequencesOf({ ...item, active: false, trigger: 'webhook' }, none)).toEqual(rest);
  expect(consequencesOf({ ...item, trigger: 'manual' }, none)).toEqual(rest);
});

test.each([
  [1, 0, undefined, ['1 unfinished run is cancelled.', 'The records of its runs are deleted.']],
  [0, 0, { number: 1, isAll: true }, ['1 recorded run is deleted with all outputs.']],
  [
    1,
    1,
    { number: 40, isAll: false },
    ['2 unfinished runs are cancelled.', 'At least 40 recorded runs are deleted with all outputs.'],
  ],
])('%i running, %i waiting and %j recorded runs are named', (running, waiting, recorded, sentences) => {
  expect(consequencesOf({ ...item, running, waiting }, recorded)).toEqual(sentences);
});

test('the tool that manages it is named, since it may recreate it', () => {
  const manager = { tool: 'Flux', source: 'apps' } as const;
  expect(consequencesOf({ ...item, manager }, none).at(-1)).toBe(
    'Flux (apps) manages it and may recreate it: delete it there too.',
  );
});

test.each([
  ['webhook', /^Its webhook responds with 404/],
  ['schedule', /^Scheduled times that pass are skipped/],
  ['mail', /^Changes at its account are skipped/],
  ['bot', /^Messages to its bot are skipped/],
] as const)('suspending a workflow with a %s trigger lists what is lost', (trigger, says) => {
  expect(suspensionOf({ ...item, trigger })[1]).toMatch(says);
  expect(suspensionOf({ ...item, active: false, trigger })[1]).not.toMatch(says);
});

test.each([
  [
    0,
    0,
    'Runs that are not executing are paused: they start or continue when you resume it.',
    'Runs that are executing continue',
  ],
  [1, 1, '1 run is paused: it starts or continues when you resume it.', '1 run is executing and continues'],
  [12, 3, '12 runs are paused: they start or continue', '3 runs are executing and continue'],
])(
  'suspending a workflow with %i waiting and %i running runs says what becomes of both',
  (waiting, running, queued, executing) => {
    const sentences = suspensionOf({ ...item, trigger: 'manual', waiting, running });
    expect(sentences).toEqual([
      'Every run is refused, including test runs.',
      expect.stringContaining(queued),
      expect.stringContaining(executing),
    ]);
  },
);

test('resuming says whether the trigger starts runs again', () => {
  expect(resumptionOf({ active: true })[0]).toMatch(/^Its trigger starts runs again/);
  expect(resumptionOf({ active: false })[0]).toMatch(/It stays inactive/);
});
