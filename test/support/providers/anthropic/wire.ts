/**
 * The wire format of streamed messages of Anthropic's API
 * (https://docs.anthropic.com/en/docs/build-with-claude/streaming).
 */
import type { ScriptedMessage, Wire } from '../model/scriptedServer.ts';

const FINISH = { done: 'end_turn', cut: 'max_tokens', refused: 'refusal', novel_reason: 'novel_reason' };

function event(type: string, rest: object = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
}

function block(index: number, content: object, deltas: readonly object[]): string[] {
  return [
    event('content_block_start', { index, content_block: content }),
    ...deltas.map((delta) => event('content_block_delta', { index, delta })),
    event('content_block_stop', { index }),
  ];
}

const half = (text: string): string[] => [
  text.slice(0, Math.ceil(text.length / 2)),
  text.slice(Math.ceil(text.length / 2)),
];

export const anthropicWire: Wire = {
  path: '/v1/messages',
  list: '/v1/models',
  models: ['claude-1', 'claude-2'],
  keyOf: ({ authorization }) => /^Bearer (.+)$/.exec(authorization ?? '')?.[1],
  refusalOf: (body, headers) => {
    const version = headers['anthropic-version'];
    if (version !== '2026-10-21' && version !== '2023-06-01') return 'anthropic-version: unknown version';
    if (version === '2026-10-21' && 'temperature' in body)
      return 'temperature: Extra inputs are not permitted';
    return 'max_tokens' in body ? undefined : 'max_tokens: Field required';
  },
  piecesOf: ({ text = '', calls = [], refusal, signature, finish = 'done' }: ScriptedMessage, { model }) => {
    const words = text.match(/\S+\s*/g) ?? [];
    const isRefused = refusal !== undefined || finish === 'refused';
    const reason = isRefused
      ? 'refusal'
      : calls.length > 0 && finish === 'done'
        ? 'tool_use'
        : FINISH[finish];
    const blocks: [content: object, deltas: object[]][] = [
      ...(signature === undefined
        ? []
        : [
            [
              { type: 'thinking', thinking: '', signature: '' },
              [
                { type: 'thinking_delta', thinking: 'Let me ' },
                { type: 'thinking_delta', thinking: 'think.' },
                { type: 'signature_delta', signature },
              ],
            ] as [object, object[]],
          ]),
      ...(text === ''
        ? []
        : [
            [{ type: 'text', text: '' }, words.map((word) => ({ type: 'text_delta', text: word }))] as [
              object,
              object[],
            ],
          ]),
      ...calls.map((call): [object, object[]] => [
        { type: 'tool_use', id: call.id, name: call.name, input: {} },
        half(call.arguments).map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
      ]),
    ];
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      content: [],
      model,
      stop_reason: null,
      stop_sequence: null,
      usage: {
        input_tokens: 4,
        cache_creation_input_tokens: 1,
        cache_read_input_tokens: 2,
        output_tokens: 1,
      },
    };
    return [
      event('message_start', { message }),
      event('ping'),
      ...blocks.flatMap(([content, deltas], index) => block(index, content, deltas)),
      event('message_delta', {
        delta: {
          stop_reason: reason,
          stop_sequence: null,
          ...(isRefused && {
            stop_details: { type: 'refusal', category: null, explanation: refusal ?? null },
          }),
        },
        usage: { output_tokens: 5 },
      }),
      event('message_stop'),
    ];
  },
  errorPiece: (text) => event('error', { error: { type: 'overloaded_error', message: text } }),
  ping: event('ping'),
  errorBody: (_status, message) => ({
    type: 'error',
    error: { type: 'invalid_request_error', message },
    request_id: 'req_1',
  }),
};
