/** What a hostile model made up goes back to its provider in a form that the provider takes. */
import { expect, test } from 'vitest';
import type { ModelMessage, ModelToolCall } from '../contract/model.ts';
import { requestOf as anthropicRequest } from '../providers/anthropic/request.ts';
import { requestOf as openaiRequest } from '../providers/openai/request.ts';

type Named = { id: string; name: string };
type Seen = { calls: Named[]; results: string[]; text: string };

const HALF = '\ud83d';

/** An answer with these calls, and a result for each. */
function answered(calls: readonly Named[], raw?: unknown): ModelMessage[] {
  const toolCalls = calls.map((call): ModelToolCall => ({ ...call, arguments: '{}' }));
  return [
    { role: 'assistant', text: `${HALF}I call`, toolCalls, ...(raw !== undefined && { raw }) },
    ...calls.map(({ id }): ModelMessage => ({ role: 'tool', callId: id, text: `3${HALF}`, isError: false })),
  ];
}

function conversation(...answers: Named[][]): ModelMessage[] {
  return [
    { role: 'system', text: `Be brief.${HALF}` },
    { role: 'user', text: `Hello${HALF}` },
    ...answers.flatMap((calls) => answered(calls)),
  ];
}

const request = (messages: readonly ModelMessage[]) => ({ model: 'm', messages, tools: [] });

function chat(messages: readonly ModelMessage[]): Seen {
  const body = openaiRequest(request(messages));
  const calls = body.messages.flatMap((message) =>
    message.role === 'assistant' ? (message.tool_calls ?? []) : [],
  );
  return {
    calls: calls.map((call) => ({ id: call.id, name: call.type === 'function' ? call.function.name : '' })),
    results: body.messages.flatMap((message) => (message.role === 'tool' ? [message.tool_call_id] : [])),
    text: JSON.stringify(body),
  };
}

function messages(given: readonly ModelMessage[]): Seen {
  const body = anthropicRequest(request(given));
  const blocks = body.messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
  return {
    calls: blocks.flatMap((block) => (block.type === 'tool_use' ? [{ id: block.id, name: block.name }] : [])),
    results: blocks.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : [])),
    text: JSON.stringify(body),
  };
}

const PROVIDERS = [
  { title: 'chat completions', seen: chat },
  { title: 'messages', seen: messages },
];
const matrix = PROVIDERS.flatMap(({ title, seen }) =>
  (
    [
      ['a name of other characters', [[{ id: 'a', name: 'träger.v2 {x}' }]]],
      ['an empty name', [[{ id: 'a', name: '' }]]],
      ['a name of 1 MB', [[{ id: 'a', name: 'x'.repeat(1_000_000) }]]],
      ['half a character in a name', [[{ id: 'a', name: `add${HALF}` }]]],
      ['an empty id', [[{ id: '', name: 'add' }]]],
      ['an id of 1 MB', [[{ id: 'x'.repeat(1_000_000), name: 'add' }]]],
      ['half a character in an id', [[{ id: HALF, name: 'add' }]]],
      ['one id twice in an answer', [['a', 'a', 'call_1'].map((id) => ({ id, name: 'add' }))]],
      [
        'one id in two answers',
        ['a', 'a'].map((id) => [
          { id, name: 'add' },
          { id: 'b', name: 'add' },
        ]),
      ],
      ['ids that are the same once they fit', [['a:1', 'a_1', 'a 1'].map((id) => ({ id, name: 'add' }))]],
    ] as [string, Named[][]][]
  ).map(([what, answers]) => ({ title, seen, what, answers })),
);

test.each(matrix)('$title: $what is made fit, and results keep their calls', ({ seen, answers }) => {
  const { calls, results, text } = seen(conversation(...answers));
  const ids = calls.map(({ id }) => id);
  expect(calls).toHaveLength(answers.flat().length);
  expect(new Set(ids).size).toBe(ids.length);
  expect(results).toEqual(ids);
  for (const { id, name } of calls) {
    expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(id).toMatch(/^\S{1,4096}$/);
  }
  expect(text).not.toMatch(/\\ud83d/i);
});

test.each(PROVIDERS)('$title: what fits stays as it is', ({ seen }) => {
  const calls = [
    { id: 'call_1', name: 'add' },
    { id: 'toolu_01-x', name: 'no_such-tool' },
  ];
  expect(seen(conversation(calls)).calls).toEqual(calls);
});

test('ids with other characters, and long ones, stay for servers of chat completions', () => {
  const ids = ['functions.add:0', `call_1__thought__${'x'.repeat(1_000)}`];
  expect(chat(conversation(ids.map((id) => ({ id, name: 'add' })))).results).toEqual(ids);
});

test.each([
  { title: 'chat completions', seen: chat, raw: { openai: { reasoning: HALF } } },
  {
    title: 'messages',
    seen: messages,
    raw: {
      anthropic: [
        { type: 'thinking', thinking: HALF, signature: HALF },
        { type: 'text', text: HALF },
      ],
    },
  },
])('$title: half a character of thinking is replaced', ({ seen, raw }) => {
  expect(seen(answered([{ id: 'a', name: 'add' }], raw)).text).not.toMatch(/\\ud83d/i);
});
