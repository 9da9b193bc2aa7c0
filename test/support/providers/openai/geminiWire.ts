/**
 * The wire format of Gemini's API that is compatible with OpenAI's
 * (https://ai.google.dev/gemini-api/docs/openai): tool calls come whole, without an index, with a signature
 * that the next request must repeat; each chunk has the usage; errors are lists.
 */
import type { Wire } from '../model/scriptedServer.ts';
import { chunk, data, delta, openaiWire, USAGE } from './wire.ts';

const FINISH = { done: 'stop', cut: 'length', refused: 'content_filter', novel_reason: 'novel_reason' };

export const geminiWire: Wire = {
  ...openaiWire,
  path: '/v1beta/openai/chat/completions',
  list: '/v1beta/openai/models',
  models: ['models/gemini-1', 'models/gemini-2'],
  piecesOf: ({ text = '', calls = [], refusal, signature, finish = 'done' }, { model }) => {
    const words = text.match(/\S+\s*/g) ?? [];
    return [
      ...words.map((content) => chunk(model, [delta({ role: 'assistant', content })], { usage: USAGE })),
      ...(refusal === undefined ? [] : [chunk(model, [delta({ refusal })], { usage: USAGE })]),
      ...calls.map((call, index) => {
        const signed = index === 0 && signature !== undefined;
        const wanted = {
          ...(signed && { extra_content: { google: { thought_signature: signature } } }),
          function: { arguments: call.arguments, name: call.name },
          id: call.id,
          type: 'function',
        };
        return chunk(model, [delta({ role: 'assistant', tool_calls: [wanted] })], { usage: USAGE });
      }),
      // Also after tool calls the reason is that the model is done.
      chunk(model, [delta({ role: 'assistant' }, FINISH[finish])], { usage: USAGE }),
      'data: [DONE]\n\n',
    ];
  },
  errorPiece: (text) => data({ error: { code: 503, message: text, status: 'UNAVAILABLE' } }),
  errorBody: (code, message, details = []) => [
    { error: { code, message, status: 'INVALID_ARGUMENT', details } },
  ],
};
