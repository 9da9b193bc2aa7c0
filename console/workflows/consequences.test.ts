import { expect, test } from 'vitest';
import { consequencesOf } from './consequences.ts';

const item = { active: true, running: 0 };
const none = { number: 0, isAll: true };

test.each([
  [{ ...item, trigger: 'webhook' as const, url: 'http://x/y' }, 'Its webhook stops answering: http://x/y'],
  [{ ...item, trigger: 'webhook' as const }, 'Its webhook stops answering.'],
  [{ ...item, trigger: 'schedule' as const }, 'Its times start nothing any more.'],
  [
    { ...item, trigger: 'mail' as const },
    'Nobody looks at its account any more, and up to where it was read is forgotten.',
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
  [1, undefined, ['1 run under way is cancelled.', 'The records of its runs are deleted with it.']],
  [0, { number: 1, isAll: true }, ['1 recorded run is deleted with it, with all outputs.']],
  [
    2,
    { number: 40, isAll: false },
    ['2 runs under way are cancelled.', 'At least 40 recorded runs are deleted with it, with all outputs.'],
  ],
])('%i runs under way and %j recorded ones are named', (running, recorded, sentences) => {
  expect(consequencesOf({ ...item, running }, recorded)).toEqual(sentences);
});

test('who manages it is named, since that may make it again', () => {
  const manager = { tool: 'Flux', source: 'apps' } as const;
  expect(consequencesOf({ ...item, manager }, none).at(-1)).toBe(
    'Flux (apps) manages it and may make it again: delete it there, too.',
  );
});
