/**
 * The wire format of streamed chat completions
 * (https://platform.openai.com/docs/api-reference/chat-streaming).
 */
import type { ScriptedMessage, Wire } from '../model/scriptedServer.ts';

const FINISH = { done: 'stop', cut: 'length', refused: 'content_filter', novel_reason: 'novel_reason' };

export function data(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

export function chunk(model: unknown, choices: readonly unknown[], rest: object = {}): string {
  return data({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model, choices, ...rest });
}

export const delta = (value: object, finish: string | null = null) => ({
  index: 0,
  delta: value,
  finish_reason: finish,
});

export const USAGE = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };

export const openaiWire: Wire = {
  path: '/v1/chat/completions',
  list: '/v1/models',
  models: ['model-1', 'model-2'],
  keyOf: ({ authorization }) => /^Bearer (.+)$/.exec(authorization ?? '')?.[1],
  piecesOf: ({ text = '', calls = [], refusal, finish = 'done' }: ScriptedMessage, { model }) => {
    const words = text.match(/\S+\s*/g) ?? [];
    const reason = calls.length > 0 && finish === 'done' ? 'tool_calls' : FINISH[finish];
    return [
      chunk(model, [delta({ role: 'assistant', content: '' })]),
      ...words.map((content) => chunk(model, [delta({ content })])),
      ...(refusal === undefined ? [] : [chunk(model, [delta({ refusal })])]),
      ...calls.map((call, index) =>
        chunk(model, [
          delta({
            tool_calls: [
              { index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } },
            ],
          }),
        ]),
      ),
      ...interleaved(calls.map((call) => call.arguments)).map(([index, piece]) =>
        chunk(model, [delta({ tool_calls: [{ index, function: { arguments: piece } }] })]),
      ),
      chunk(model, [delta({}, reason)]),
      chunk(model, [], { usage: USAGE }),
      'data: [DONE]\n\n',
    ];
  },
  errorPiece: (text) => data({ error: { message: text, type: 'server_error' } }),
  ping: ': keep-alive\n\n',
  errorBody: (_status, message) => ({ error: { message, type: 'invalid_request_error', code: null } }),
};

/** First all first halves of the texts, then the second ones, each with the index of its text. */
function interleaved(texts: readonly string[]): [index: number, piece: string][] {
  const half = (text: string) => Math.ceil(text.length / 2);
  return [
    ...texts.map((text, index): [number, string] => [index, text.slice(0, half(text))]),
    ...texts.map((text, index): [number, string] => [index, text.slice(half(text))]),
  ];
}
