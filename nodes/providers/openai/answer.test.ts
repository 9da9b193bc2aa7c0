import { expect, test } from 'vitest';
import { StepError } from '../../../api/reasons.ts';
import { emptyDraft, finishedAnswer, type Draft } from '../../models/draft.ts';
import { chunkReader } from './answer.ts';

type Delta = { index?: number; id?: string; function?: { name?: string; arguments?: string } };

function draftOf(...deltas: Delta[][]): Draft {
  const draft = emptyDraft();
  const read = chunkReader();
  for (const calls of deltas) {
    read(draft, { choices: [{ delta: { tool_calls: calls } }] });
  }
  read(draft, { choices: [{ finish_reason: 'tool_calls' }] });
  return draft;
}

const begin = (index: number | undefined, id: string | undefined, text = ''): Delta => ({
  ...(index !== undefined && { index }),
  ...(id !== undefined && { id }),
  function: { name: 'add', arguments: text },
});
const more = (index: number, text: string): Delta => ({ index, function: { arguments: text } });

test.each<[string, Delta[][], [string, string][]]>([
  ['one call in pieces', [[begin(0, 'a')], [more(0, '{"x"')], [more(0, ':1}')]], [['a', '{"x":1}']]],
  [
    'two calls with interleaved pieces',
    [[begin(0, 'a'), begin(1, 'b')], [more(1, '[2')], [more(0, '[1')], [more(1, ']'), more(0, ']')]],
    [
      ['a', '[1]'],
      ['b', '[2]'],
    ],
  ],
  [
    'whole calls that all have index 0',
    [[begin(0, 'a', '{}')], [begin(0, 'b', '{"y":2}')]],
    [
      ['a', '{}'],
      ['b', '{"y":2}'],
    ],
  ],
  [
    'whole calls without index and id',
    [[begin(undefined, undefined, '{"x":1}'), begin(undefined, undefined, '{"x":2}')]],
    [
      ['call_0', '{"x":1}'],
      ['call_1', '{"x":2}'],
    ],
  ],
  [
    'whole calls with index 0 and an empty id',
    [[begin(0, '', '{"x":1}')], [begin(0, '', '{"x":2}')]],
    [
      ['call_0', '{"x":1}'],
      ['call_1', '{"x":2}'],
    ],
  ],
  [
    'a server that repeats id and name',
    [[begin(0, 'a', '{"x"')], [begin(0, 'a', ':1}')]],
    [['a', '{"x":1}']],
  ],
  ['a call without arguments', [[begin(0, 'a')]], [['a', '{}']]],
])('%s is assembled', (_name, deltas, calls) => {
  const { toolCalls } = finishedAnswer(draftOf(...deltas), 'demo');
  expect(toolCalls.map(({ id, arguments: text }) => [id, text])).toEqual(calls);
  expect(toolCalls.every(({ name }) => name === 'add')).toBe(true);
});

test.each([
  ['128 calls', () => draftOf(...Array.from({ length: 129 }, (_, index) => [begin(index, `c${index}`)]))],
  ['1 MiB of arguments', () => draftOf([begin(0, 'a', 'x'.repeat(600_000))], [more(0, 'x'.repeat(600_000))])],
])('more than %s is refused', (_name, read) => {
  expect(read).toThrow(expect.objectContaining({ reason: 'OutputTooLarge' }) as StepError);
});

test.each([
  [
    { prompt_tokens: 10, completion_tokens: 5 },
    { inputTokens: 10, outputTokens: 5 },
  ],
  [
    { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 8 } },
    { inputTokens: 10, outputTokens: 5, cachedInputTokens: 8 },
  ],
  [
    { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: null },
    { inputTokens: 10, outputTokens: 5 },
  ],
  [{ completion_tokens: 5 }, { inputTokens: 0, outputTokens: 5 }],
])('tokens of the cache are part of the input: %#', (reported, usage) => {
  const draft = emptyDraft();
  chunkReader()(draft, { model: 'm', choices: [], usage: reported });
  expect(draft.usage).toEqual(usage);
});

test('fractions and absurd numbers of tokens become whole ones', () => {
  const draft = emptyDraft();
  const read = chunkReader();
  read(draft, { choices: [{ delta: { content: 'Hi' }, finish_reason: 'stop' }] });
  read(draft, { usage: { prompt_tokens: 1.2, completion_tokens: 1e300 } });
  expect(finishedAnswer(draft, 'm').usage).toEqual({ inputTokens: 2, outputTokens: 1_000_000_000 });
});
