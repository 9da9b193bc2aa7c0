import { expect, test } from 'vitest';
import { newSessionToken } from '../../../api/chat.ts';
import { messageInput, prefersJson, readMessage, readSession } from './message.ts';

const LIMITS = { maxDepth: 64, maxKeys: 100, maxTokens: 1_000 };
const read = (body: string) => readMessage(Buffer.from(body), LIMITS);

test('a message has a text and an ID', () =>
  expect(read('{"message":" Hi ","id":"m_1-2","more":1}')).toEqual({ text: ' Hi ', id: 'm_1-2' }));

test.each([
  ['', 'bad-json'],
  ['{"message":"a"', 'bad-json'],
  ['null', 'bad-message'],
  ['"a"', 'bad-message'],
  ['{"id":"1"}', 'bad-message'],
  ['{"message":"a"}', 'bad-message'],
  ['{"message":"","id":"1"}', 'bad-message'],
  ['{"message":" \\n\\t","id":"1"}', 'bad-message'],
  ['{"message":["a"],"id":"1"}', 'bad-message'],
  ['{"message":"a","id":1}', 'bad-message'],
  ['{"message":"a","id":"a/b"}', 'bad-message'],
  [`{"message":"a","id":"${'1'.repeat(65)}"}`, 'bad-message'],
  ['{"message":"\\ud800","id":"1"}', 'lone-surrogate'],
])('the body %s is refused', (body, problem) => expect(read(body)).toBe(problem));

test('a session is that of the header, or a new one', () => {
  const token = newSessionToken();
  const own = readSession({ rawHeaders: ['Windlass-Chat-Session', token] }, 'w');
  expect(own).toMatchObject({ token });
  const made = readSession({ rawHeaders: [] }, 'w');
  expect(typeof made === 'string' ? '' : made.token).toMatch(/^[A-Za-z0-9_-]{43}$/);
});

test.each([
  [['windlass-chat-session', '']],
  [['windlass-chat-session', 'x']],
  [['windlass-chat-session', newSessionToken(), 'Windlass-Chat-Session', newSessionToken()]],
])('an invalid or repeated header is refused', (rawHeaders) =>
  expect(readSession({ rawHeaders }, 'w')).toBe('bad-session'),
);

test.each([
  [undefined, false],
  ['*/*', false],
  ['text/event-stream', false],
  ['application/json, text/event-stream', false],
  ['application/json', true],
  ['Application/JSON;q=0.9, */*;q=0.1', true],
])('Accept: %s', (accept, isJson) => expect(prefersJson(accept)).toBe(isJson));

test('the message is the output of the trigger, unchanged', () => {
  const text = '{{ $("x") }} "quoted"\n';
  expect(JSON.parse(messageInput({ text, id: 'm' }, 's'))).toEqual({
    text_content: text,
    data_content: { session: 's', message: text, id: 'm' },
  });
});
