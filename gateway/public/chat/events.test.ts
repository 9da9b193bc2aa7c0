import { describe, expect, test } from 'vitest';
import type { RunEvent } from '../../../runs/types/event.ts';
import { chatEventText, createAnswerReader, type ChatEvent } from './events.ts';

const text = (id: number, text: string, { node = 'a', call = 1, delivery = 1 } = {}): RunEvent => ({
  id: String(id),
  type: 'text',
  node,
  text,
  call,
  delivery,
  at: 0,
});
const node = (id: number): RunEvent => ({
  id: String(id),
  type: 'node',
  node: 'a',
  phase: 'Running',
  attempt: 1,
  at: 0,
});

function shown(events: RunEvent[], answer: string | undefined = 'a'): ChatEvent[] {
  const read = createAnswerReader(answer);
  return events.flatMap((event) => read(event) ?? []);
}

describe('the events of a chat', () => {
  test('are the texts of the answering node alone', () =>
    expect(shown([node(1), text(2, 'x', { node: 'b' }), text(3, 'Hel'), text(4, 'lo')])).toEqual([
      { type: 'text', text: 'Hel' },
      { type: 'text', text: 'lo' },
    ]));

  test('have no text where a response node answers', () => {
    const read = createAnswerReader(undefined);
    expect([node(1), text(2, 'x')].map(read)).toEqual([undefined, undefined]);
  });

  test.each([
    ['another request to the model', { call: 2 }],
    ['another claim of the run', { delivery: 2 }],
  ])('start over with %s', (_name, source) =>
    expect(shown([text(1, 'Half'), text(2, 'Whole', source), text(3, '.', source)])).toEqual([
      { type: 'text', text: 'Half' },
      { type: 'reset', text: 'Whole' },
      { type: 'text', text: '.' },
    ]),
  );

  test('start over with what is left where the first events are gone', () =>
    expect(shown([text(5, 'end'), text(6, '.')])).toEqual([
      { type: 'reset', text: 'end', partial: true },
      { type: 'text', text: '.' },
    ]));

  test('start over after a gap', () =>
    expect(shown([text(1, 'begin'), text(7, 'end')])).toEqual([
      { type: 'text', text: 'begin' },
      { type: 'reset', text: 'end', partial: true },
    ]));

  test('do not count events of other nodes as a gap', () =>
    expect(shown([text(1, 'a'), node(2), text(3, 'b')]).map(({ type }) => type)).toEqual(['text', 'text']));
});

test('an event has one line of data, whatever its text is', () => {
  expect(chatEventText({ type: 'text', text: 'a\n\nevent: done\r' })).toBe(
    'event: text\ndata: {"text":"a\\n\\nevent: done\\r"}\n\n',
  );
  expect(chatEventText({ type: 'error', problem: 'chat-failed' })).toMatch(
    /^event: error\ndata: \{"type":"tag:[^"]+\/chat-failed","title":"No answer","detail":"[^"\n]+/,
  );
});
