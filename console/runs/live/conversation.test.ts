import { expect, test } from 'vitest';
import {
  conversationOf,
  countsOf,
  foldEntry,
  isAnswer,
  readEntryEvent,
  stateOf,
  messagesOf,
  type Conversation,
  type Entry,
  type EntryEvent,
} from './conversation.ts';
import { createLiveTexts } from './liveText.ts';
import { readLiveEvent, type LiveEvent } from './runState.ts';

const time = (second: number) => new Date(second * 1_000).toISOString();
const user: Entry = { role: 'User', text: 'Where is order 7?' };
const asks: Entry = { role: 'Assistant', text: '', usage: { inputTokens: 9, outputTokens: 2 } };
const called: Entry = { role: 'Tool', text: '', tool: 'find', arguments: '{"id":7}' };
const begun: Entry = { ...called, startTime: time(1) };
const found: Entry = { ...begun, text: 'sent', completionTime: time(2) };
const answer: Entry = { role: 'Assistant', text: 'It is on its way.' };

const whole = [user, asks, found, answer];
const entry = (position: number, of: Entry, reset?: true): LiveEvent => ({
  type: 'transcript',
  node: 'a',
  position,
  entry: of,
  ...(reset && { reset }),
});
const text = (position: number, piece: string, reset?: true): LiveEvent => ({
  type: 'text',
  node: 'a',
  text: piece,
  position,
  ...(reset && { reset }),
});
const start = entry(0, user, true);
const stale: Entry = { role: 'Assistant', text: 'of a lost run' };

/** As the follower of a run does. */
function shown(events: LiveEvent[]): { conversation: Conversation | undefined; writing: string } {
  const texts = createLiveTexts((run) => run());
  let conversation: Conversation | undefined;
  for (const event of events) {
    if (event.type === 'text') texts.append('a', event.text, event);
    if (event.type !== 'transcript') continue;
    if (isAnswer(event)) texts.restart('a');
    conversation = foldEntry(conversation, event);
  }
  return { conversation, writing: texts.read('a').text };
}

test.each<[string, LiveEvent[]]>([
  [
    'events in order',
    [
      start,
      entry(1, asks),
      entry(2, called),
      entry(2, begun),
      entry(2, found),
      text(3, 'It is'),
      entry(3, answer),
    ],
  ],
  ['joined events', [start, entry(1, asks), entry(2, found), entry(3, answer)]],
  [
    'the same events twice',
    [start, entry(1, asks), entry(2, found), start, entry(1, asks), entry(2, found), entry(3, answer)],
  ],
  [
    'a takeover, whose snapshot voids the entries before',
    [
      entry(0, user),
      entry(1, stale),
      entry(2, stale),
      entry(5, stale),
      start,
      ...whole.map((of, at) => entry(at, of)),
    ],
  ],
  [
    'a request that is repeated, whose text begins again',
    [start, entry(1, asks), entry(2, found), text(3, 'It w'), text(3, 'It is', true), entry(3, answer)],
  ],
])('the conversation after %s is that of the record', (_, events) => {
  const { conversation, writing } = shown(events);
  expect(conversation).toEqual(conversationOf({ entries: whole }));
  expect(writing).toBe('');
});

test('the text of an answer in progress is that of its last request', () => {
  expect(shown([start, text(1, 'Let me'), text(1, ' see')]).writing).toBe('Let me see');
  expect(shown([start, text(1, 'Let'), text(1, 'I ', true), text(1, 'find')]).writing).toBe('I find');
  expect(shown([start, text(1, 'Let me see'), text(3, 'It is')]).writing).toBe('It is');
});

test.each<[string, EntryEvent[] | { entries: Entry[]; omitted?: number }, unknown[]]>([
  [
    'calls follow their answer',
    { entries: whole },
    [
      [0, 0],
      [1, 0, 2],
      [3, 0],
    ],
  ],
  [
    'entries left out of the middle',
    { entries: [user, asks, answer], omitted: 6 },
    [
      [0, 0],
      [1, 0],
      [8, 6],
    ],
  ],
  [
    'a call whose answer is left out',
    { entries: [user, found], omitted: 2 },
    [
      [0, 0],
      [3, 2, 3],
    ],
  ],
  [
    'entries left out at the end',
    { entries: [user], omitted: 4 },
    [
      [0, 0],
      [5, 4],
    ],
  ],
  ['all of it left out', { entries: [], omitted: 4 }, [[4, 4]]],
  ['events that are lost', [{ position: 7, entry: answer }], [[7, 7]]],
])('messages: %s', (_, given, expected) => {
  const conversation = Array.isArray(given)
    ? given.reduce<Conversation | undefined>(foldEntry, undefined)
    : conversationOf(given);
  const messages = messagesOf(conversation!).map(({ position, omitted, calls }) => [
    position,
    omitted,
    ...calls.map((call) => call.position),
  ]);
  expect(messages).toEqual(expected);
});

test('counts are those of the known entries', () => {
  expect(countsOf(conversationOf({ entries: whole }))).toEqual({
    answers: 2,
    toolCalls: 1,
    inputTokens: 9,
    outputTokens: 2,
  });
});

test.each([
  [called, 'waiting'],
  [begun, 'running'],
  [found, 'done'],
  [{ ...found, error: true }, 'failed'],
] as const)('the call %j is %s', (call, state) => {
  expect(stateOf(call)).toBe(state);
});

test('an event is parsed, and an invalid one ignored', () => {
  const data = { node: 'a', position: 2, entry: found, at: 5 };
  expect(readLiveEvent({ id: '1', event: 'transcript', data: JSON.stringify(data) })).toEqual(
    entry(2, found),
  );
  expect(readEntryEvent({ ...data, entry: { role: 'Robot', text: '' } })).toBeUndefined();
  expect(readEntryEvent({ ...data, position: '2' })).toBeUndefined();
  expect(readEntryEvent({ position: 2 })).toBeUndefined();
});
