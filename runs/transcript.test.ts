import { expect, test } from 'vitest';
import type { TranscriptEntry } from '../api/transcript.ts';
import { transcriptEvents } from './transcript.ts';

const user: TranscriptEntry = { role: 'User', text: 'Hello' };
const called: TranscriptEntry = { role: 'Tool', text: '', tool: 'find', arguments: '{}' };
const begun = { ...called, startedAt: 1_000 };
const failed: TranscriptEntry = { ...begun, endedAt: 2_000, text: 'Timeout: too slow', isError: true };
const placed = (...given: Parameters<typeof transcriptEvents>) =>
  transcriptEvents(...given).map(({ position, entry, reset }) => [position, entry.text, reset === true]);

test('an event has the entry as the record has it', () => {
  expect(transcriptEvents('a', [user, failed], [user, begun])).toEqual([
    {
      type: 'transcript',
      node: 'a',
      position: 1,
      entry: {
        role: 'Tool',
        text: 'Timeout: too slow',
        tool: 'find',
        arguments: '{}',
        error: true,
        startTime: '1970-01-01T00:00:01.000Z',
        completionTime: '1970-01-01T00:00:02.000Z',
      },
    },
  ]);
});

test.each([
  ['nothing changed', [user, begun], [user, begun], []],
  ['a call starts', [user, begun], [user, called], [[1, '', false]]],
  ['an entry is new', [user, called], [user], [[1, '', false]]],
  [
    'nothing was sent before',
    [user, called],
    undefined,
    [
      [0, 'Hello', true],
      [1, '', false],
    ],
  ],
])('only what changed is an event: %s', (_, entries, sent, expected) => {
  expect(placed('a', entries, sent)).toEqual(expected);
});

test('texts and arguments are cut to 4,096 characters, also of the only entry', () => {
  const [event] = transcriptEvents(
    'a',
    [{ ...failed, arguments: 'x'.repeat(9_000), text: 'y'.repeat(9_000) }],
    undefined,
  );
  expect(event?.entry.text).toBe(`${'y'.repeat(4_096)}… [cut]`);
  expect(event?.entry.arguments).toBe(`${'x'.repeat(4_096)}… [cut]`);
});

test('a snapshot of a long transcript has its first and last entries at their positions', () => {
  const entries = Array.from({ length: 100 }, (_, at) => ({ ...failed, text: `${at} ${'x'.repeat(3_000)}` }));
  const events = placed('a', entries, undefined);
  const positions = events.map(([position]) => position);
  expect(positions[0]).toBe(0);
  expect(positions.at(-1)).toBe(99);
  expect(events.every(([position, text]) => String(text).startsWith(`${String(position)} `))).toBe(true);
  expect(JSON.stringify(events).length).toBeLessThan(33 * 1024);
});
