import { expect, test } from 'vitest';
import type { RunEvent } from '../../runs/types/event.ts';
import type { WorkflowRun } from '../../api/kinds.ts';
import { createEventWriter, recordText } from './eventText.ts';
import { eventsIn } from './liveEvents.ts';

const paint = (_colour: string, text: string) => text;
const at = Date.parse('2026-11-26T10:00:00.250Z');

function written(...events: RunEvent[]): string {
  const writer = createEventWriter(paint);
  return events.map((event) => writer.write(event)).join('') + writer.end();
}

test('the text of a model is written as it comes, on a line of its own', () => {
  const text = (part: string, more: object = {}): RunEvent => ({
    id: '1',
    type: 'text',
    node: 'a',
    text: part,
    at,
    ...more,
  });
  expect(
    written(
      { id: '1', type: 'node', node: 'a', phase: 'Running', attempt: 1, at },
      text('Hel'),
      text('lo\u001B[2J'),
      text('Again', { reset: true }),
      { id: '2', type: 'node', node: 'a', phase: 'Failed', attempt: 1, reason: 'Timeout', at },
      { id: '3', type: 'run', phase: 'Failed', message: 'node a', at },
    ),
  ).toBe(
    '10:00:00.250 · a: Running\na> Hello\uFFFD[2J\na> Again\n10:00:00.250 ✗ a: Timeout\n10:00:00.250 run Failed: node a\n',
  );
});

test('a tool call and the progress of a loop are lines', () => {
  expect(
    written(
      {
        id: '1',
        type: 'transcript',
        node: 'a',
        position: 3,
        entry: { role: 'Tool', tool: 'find', text: 'three\nrows' },
        at,
      },
      { id: '2', type: 'items', node: 'l', items: { total: 9, succeeded: 3, failed: 1, running: 2 }, at },
    ),
  ).toBe('10:00:00.250 a: → find: three\n10:00:00.250 l: 4 of 9 items ended, 1 failed\n');
});

test('a record has its nodes in the order of time, with answers and the output of console.log', () => {
  const run = {
    metadata: { name: 'r' },
    status: {
      phase: 'Succeeded',
      completionTime: '2026-11-26T10:00:02Z',
      nodes: [
        { id: 'code', phase: 'Succeeded', startTime: '2026-11-26T10:00:01Z', log: 'one' },
        {
          id: 'agent',
          phase: 'Succeeded',
          startTime: '2026-11-26T10:00:00Z',
          transcript: { entries: [{ role: 'Assistant', text: 'Hi' }] },
        },
      ],
    },
  } as unknown as WorkflowRun;
  expect(recordText(run, paint)).toEqual([
    `${' '.repeat(12)} agent> Hi`,
    '10:00:00.000 ✓ agent',
    '10:00:01.000 ✓ code',
    '  one',
    '10:00:02.000 run Succeeded',
  ]);
});

test('events of a stream are read wherever its chunks end, and comments are left out', async () => {
  const text = ': heartbeat\n\nid: 1\nevent: run\ndata: {"phase":"Running","at":1}\n\n';
  const stream = [text.slice(0, 30), text.slice(30)].map((part) => Buffer.from(part));
  const events: RunEvent[] = [];
  for await (const event of eventsIn(streamOf(stream))) events.push(event);
  expect(events).toEqual([{ id: '1', type: 'run', phase: 'Running', at: 1 }]);
});

async function* streamOf(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  await Promise.resolve();
  yield* chunks;
}
