import { expect, test } from 'vitest';
import { ExactNumber } from '../../api/exact/exactNumber.ts';
import type { MemoryTurn } from '../../api/memory.ts';
import {
  bytesPerTokenOf,
  halfOf,
  memoryKeyOf,
  messagesOfMemory,
  storedTurn,
  turnsInWindow,
} from './memoryTurns.ts';
import type { Round, StoredResult } from './rounds.ts';

const time = '2026-05-01T08:00:00.000Z';
/** A turn whose messages have about so many bytes. */
const turn = (user: string, bytes = 0, extra: Partial<MemoryTurn> = {}): MemoryTurn => ({
  run: 'r',
  time,
  user,
  steps: [],
  answer: 'x'.repeat(bytes),
  ...extra,
});
const call = { id: 'c1', name: 'orders', arguments: '{}' };
const withCall = turn('b', 0, { steps: [{ text: '', calls: [{ ...call, result: 'y'.repeat(300) }] }] });

const inWindow = (turns: MemoryTurn[], window?: { turns?: number; tokens?: number }) =>
  turnsInWindow(
    turns.map((it) => JSON.stringify(it)),
    window,
  ).map(({ user }) => user);

test.each([
  ['the newest turns', ['a', 'b', 'c'].map((user) => turn(user)), { turns: 2 }, ['b', 'c']],
  [
    '20 turns by default',
    Array.from({ length: 25 }, (_, at) => turn(`${at}`)),
    {},
    Array.from({ length: 20 }, (_, at) => `${at + 5}`),
  ],
  ['tokens of 3 bytes', [turn('a', 299), turn('b', 299), turn('c', 299)], { tokens: 200 }, ['b', 'c']],
  [
    'nothing beyond a turn that does not fit',
    [turn('a'), turn('b', 1_000), turn('c')],
    { tokens: 100 },
    ['c'],
  ],
  ['a turn with its calls or not at all', [turn('a'), withCall, turn('c')], { tokens: 100 }, ['c']],
  ['a turn with its calls', [turn('a'), withCall, turn('c')], { tokens: 110 }, ['a', 'b', 'c']],
  [
    'tokens as the provider counted them last',
    [turn('a', 99), turn('b', 99, { bytesPerToken: 1 })],
    { tokens: 150 },
    ['b'],
  ],
  ['none where the last one does not fit', [turn('a'), turn('b', 1_000)], { tokens: 100 }, []],
  ['none of an empty memory', [], { tokens: 100 }, []],
])('a window has %s', (_what, turns, window, expected) => {
  expect(inWindow(turns, window)).toEqual(expected);
});

test.each([
  [[], []],
  [['a'], []],
  [['a', 'b'], ['b']],
  [['a', 'b', 'c'], ['c']],
  [
    ['a', 'b', 'c', 'd'],
    ['c', 'd'],
  ],
])('of the turns %j the newer half is %j', (turns, half) => {
  expect(halfOf(turns.map((user) => turn(user))).map(({ user }) => user)).toEqual(half);
});

test('ids that another provider gave are made fit', () => {
  const calls = ['functions.add:0', 'x'.repeat(41), 'a', 'a'].map((id) => ({ ...call, id, result: 'r' }));
  const messages = messagesOfMemory([turn('', 0, { steps: [{ text: '', calls }] })]);
  const ids = messages.flatMap((message) => (message.role === 'tool' ? message.callId : []));
  expect(ids).toEqual(['functions_add_0', 'call_1', 'a', 'call_2']);
  expect(messages[1]).toMatchObject({ toolCalls: ids.map((id) => ({ id })) });
});

test('each call has its result, also of a failed turn', () => {
  const failed = stored([{ text: 'ok', startedAt: 0, endedAt: 0 }, undefined]);
  expect(failed).toMatchObject({
    failed: true,
    answer: expect.stringContaining('Timeout: too slow') as string,
  });
  const messages = messagesOfMemory([failed ?? turn('')]);
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'assistant']);
  expect(messages[3]).toEqual({
    role: 'tool',
    callId: 'call_1',
    text: 'No result: the agent failed before the call had ended.',
    isError: true,
  });
});

function stored(results: (StoredResult | undefined)[], answer?: string): MemoryTurn | undefined {
  const chosen = { credential: 'llm', model: 'demo' };
  const times = { attempt: 1, startedAt: 0, endedAt: 0 };
  const first: Round = {
    answer: {
      text: '',
      toolCalls: results.map(() => call),
      model: 'demo',
      usage: null,
      chosen,
      failed: [],
      marks: [],
      ...times,
    },
    results,
    marked: new Set(),
    children: new Map(),
    doubts: new Map(),
    begun: new Map(),
  };
  const so = {
    prompt: 'Hello',
    rounds: results.length === 0 ? [] : [first],
    ...(answer !== undefined && { answer }),
  };
  const failure = answer === undefined ? { reason: 'Timeout', message: 'too slow' } : undefined;
  const text = storedTurn(so, { run: 'r', now: Date.parse(time), failure, isRedacted: false });
  return text === undefined ? undefined : (JSON.parse(text) as MemoryTurn);
}

const result = (text: string): StoredResult => ({ text, startedAt: 0, endedAt: 0 });

test.each([
  ['without an answer and without calls', [], undefined, false],
  ['whose calls were all wrong', [{ ...result('wrong'), isWrong: true as const }], undefined, false],
  ['that had called a tool', [result('ok')], undefined, true],
  ['that answered', [], 'Hi', true],
])('a turn %s is stored: %s, %s → %s', (_what, results, answer, isStored) => {
  expect(stored(results, answer) !== undefined).toBe(isStored);
});

test.each([
  ['long results', Array.from({ length: 8 }, () => result('z'.repeat(30_000))), 'Hi', 8],
  ['a long answer', [], 'z'.repeat(200_000), 0],
  ['very many calls', Array.from({ length: 300 }, () => result('z'.repeat(30_000))), 'Hi', 0],
])('a turn with %s is cut to 64 KiB, in whole calls', (_what, results, answer, calls) => {
  const cut = stored(results, answer);
  expect(Buffer.byteLength(JSON.stringify(cut))).toBeLessThanOrEqual(64 * 1024);
  expect(cut?.steps.flatMap((step) => step.calls)).toHaveLength(calls);
  expect(cut?.user).toBe('Hello');
});

test.each([
  ['a text', 'chat 1', 'chat 1'],
  ['a number', 42, '42'],
  ['a number beyond a double', new ExactNumber('12345678901234567890'), '12345678901234567890'],
])('%s is a key', (_what, value, key) => expect(memoryKeyOf(value)).toBe(key));

test.each([
  [''],
  [' '],
  [null],
  [undefined],
  [{}],
  [['a']],
  [true],
  ['x'.repeat(513)],
  ['é'.repeat(257)],
  ['..'],
  ['.'],
  // The run store would keep another key than it is asked for.
  ['a\ud800'],
])('%j is no key', (value) => {
  expect(() => memoryKeyOf(value)).toThrow(/agent\.memory\.key/);
});

test.each([
  ['counted', { inputTokens: 100, outputTokens: 1 }, 4],
  ['counted as more than bytes', { inputTokens: 4_000, outputTokens: 1 }, 1],
  ['counted as hardly any', { inputTokens: 1, outputTokens: 1 }, 8],
  ['not counted', null, undefined],
  ['counted as none', { inputTokens: 0, outputTokens: 0 }, undefined],
])('tokens that are %s give %s → %s bytes per token', (_what, usage, bytes) => {
  expect(bytesPerTokenOf([{ role: 'user', text: 'x'.repeat(400) }], [], usage)).toBe(bytes);
});
