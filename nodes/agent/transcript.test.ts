import { expect, test } from 'vitest';
import { transcriptOf } from './transcript.ts';

const FIRST = [
  { role: 'system', text: 'You sell lamps.' },
  { role: 'user', text: 'It came broken.' },
] as const;

test('the prompt tells how many turns of the memory the model was sent before it', () => {
  const final = { text: 'Sorry.', usage: null, startedAt: 1, endedAt: 2 };
  expect(transcriptOf(FIRST, [], { final, memoryTurns: 2 })).toEqual([
    { role: 'System', text: 'You sell lamps.' },
    { role: 'User', text: 'It came broken.', memoryTurns: 2 },
    { role: 'Assistant', text: 'Sorry.', startedAt: 1, endedAt: 2 },
  ]);
  expect(transcriptOf(FIRST, [], { memoryTurns: 0 })).toEqual([
    { role: 'System', text: 'You sell lamps.' },
    { role: 'User', text: 'It came broken.' },
  ]);
});
