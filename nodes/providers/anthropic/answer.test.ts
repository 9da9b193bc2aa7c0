import { expect, test } from 'vitest';
import { emptyDraft } from '../../models/draft.ts';
import { eventReader } from './answer.ts';

const start = (usage: object) => ({ type: 'message_start', message: { model: 'c', usage } });
const delta = (usage: object) => ({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage });

test.each([
  [
    [start({ input_tokens: 10, output_tokens: 1 }), delta({ output_tokens: 5 })],
    { inputTokens: 10, outputTokens: 5 },
  ],
  [
    [
      start({
        input_tokens: 10,
        cache_read_input_tokens: 100,
        cache_creation_input_tokens: 20,
        output_tokens: 1,
      }),
      delta({ output_tokens: 5 }),
    ],
    { inputTokens: 130, outputTokens: 5, cachedInputTokens: 100, cacheWriteTokens: 20 },
  ],
  [
    [start({ input_tokens: 1, output_tokens: 1 }), delta({ input_tokens: 9, output_tokens: 5 })],
    { inputTokens: 9, outputTokens: 5 },
  ],
  [[start({}), delta({ output_tokens: 5 })], { inputTokens: 0, outputTokens: 5 }],
])('tokens of the cache count as input, and apart: %#', (events, usage) => {
  const draft = emptyDraft();
  const read = eventReader();
  for (const event of events) read(draft, event);
  expect(draft.usage).toEqual(usage);
});
