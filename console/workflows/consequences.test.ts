import { expect, test } from 'vitest';
import { consequencesOf, resumptionOf, suspensionOf } from './consequences.ts';

const item = { active: true, running: 0, waiting: 0 };
const none = { number: 0, isAll: true };

test.each([
  [{ ...item, trigger: 'webhook' as const, url: 'http://x/y' }, 'Its webhook stops answering: http://x/y'],
  [{ ...item, trigger: 'webhook' as const }, 'Its webhook stops answering.'],
  [{ ...item, trigger: 'schedule' as const }, 'Its times start nothing any more.'],
  [
    { ...item, trigger: 'mail' as const },
    'Its account is not polled any more, and the position in it is deleted.',
  ],
  [{ ...item, trigger: 'bot' as const }, 'What people write to its bot starts nothing any more.'],
])('deleting %j says how its trigger ends', (deleted, sentence) => {
  expect(consequencesOf(deleted, none)).toEqual([sentence, 'It has no recorded runs.']);
});

test('of a trigger that is switched off, or of none, nothing ends', () => {
  const rest = ['It has no recorded runs.'];
  expect(consequencesOf({ ...item, active: false, trigger: 'webhook' }, none)).toEqual(rest);
  expect(consequencesOf({ ...item, trigger: 'manual' }, none)).toEqual(rest);
});

test.each([
  [1, 0, undefined, ['1 run under way is cancelled.', 'The records of its runs are deleted with it.']],
  [0, 0, { number: 1, isAll: true }, ['1 recorded run is deleted with it, with all outputs.']],
  [
    1,
    1,
    { number: 40, isAll: false },
    ['2 runs under way are cancelled.', 'At least 40 recorded runs are deleted with it, with all outputs.'],
  ],
])('%i running, %i waiting and %j recorded runs are named', (running, waiting, recorded, sentences) => {
  expect(consequencesOf({ ...item, running, waiting }, recorded)).toEqual(sentences);
});

test('who manages it is named, since that may make it again', () => {
  const manager = { tool: 'Flux', source: 'apps' } as const;
  expect(consequencesOf({ ...item, manager }, none).at(-1)).toBe(
    'Flux (apps) manages it and may make it again: delete it there, too.',
  );
});

test.each([
  ['webhook', /^Its webhook answers 404/],
  ['schedule', /^Times that pass meanwhile start no run/],
  ['mail', /^What happens at its account meanwhile/],
  ['bot', /^Messages to its bot start no run/],
] as const)('suspending a workflow with the trigger %s says what is lost meanwhile', (trigger, says) => {
  expect(suspensionOf({ ...item, trigger })[1]).toMatch(says);
  expect(suspensionOf({ ...item, active: false, trigger })[1]).not.toMatch(says);
});

test.each([
  [0, 0, 'Runs that wait are held back, and start when it is resumed.', 'A run that is executing continues'],
  [
    1,
    1,
    '1 run that waits is held back, and starts when it is resumed.',
    '1 run that is executing continues',
  ],
  [12, 3, '12 runs that wait are held back, and start', '3 runs that are executing continue'],
])(
  'suspending a workflow with %i waiting and %i running runs names both',
  (waiting, running, held, executing) => {
    const sentences = suspensionOf({ ...item, trigger: 'manual', waiting, running });
    expect(sentences).toEqual([
      'Every run is refused, also test runs.',
      expect.stringContaining(held),
      expect.stringContaining(executing),
    ]);
  },
);

test('resuming says whether the trigger starts runs again', () => {
  expect(resumptionOf({ active: true })[0]).toMatch(/^Its trigger starts runs again/);
  expect(resumptionOf({ active: false })[0]).toMatch(/It stays inactive/);
});
