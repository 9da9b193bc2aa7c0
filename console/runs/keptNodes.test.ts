import { expect, test } from 'vitest';
import { attemptsText, isKept } from './keptNodes.ts';

const accepted = '2026-01-05T09:30:00.500Z';

test.each([
  ['ended before the run was accepted', true, '2026-01-05T09:29:58.000Z', true],
  ['ended in the run', true, '2026-01-05T09:30:01.000Z', false],
  ['has not ended', true, undefined, false],
  ['ended before a run that continues no other', false, '2026-01-05T09:29:58.000Z', false],
])('a node that %s (resume: %s, end: %s) is kept: %s', (_what, resume, completionTime, kept) => {
  const node = { id: 'a', ...(completionTime !== undefined && { completionTime }) };
  expect(isKept(node, { resume, accepted })).toBe(kept);
});

test('the attempts of a run that continues another one are not all its own', () => {
  expect(attemptsText(2, { resume: false, accepted })).toBe('2 attempts');
  expect(attemptsText(2, { resume: true, accepted })).toBe(
    'attempt 2, with those of the run that this one continues',
  );
});
