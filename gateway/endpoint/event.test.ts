import { expect, test } from 'vitest';
import { admittedHeaders, eventHash, eventInput, eventKey } from './event.ts';

test('the input contains the body byte for byte', () => {
  const body = ' { "b" : 1E-999, "a":[-0, 10000000000000000999] } ';
  expect(eventInput(body)).toBe(`{"text_content":"","data_content":${body}}`);
  expect(JSON.parse(eventInput('[1,{"a":null}]'))).toEqual({
    text_content: '',
    data_content: [1, { a: null }],
  });
});

test('only admitted headers become part of the event', () => {
  const headers = { 'x-event': 'push', cookie: 'secret', 'x-many': ['a', 'b'] };
  expect(admittedHeaders(headers, ['x-event', 'x-many', 'x-absent'])).toEqual({
    'x-event': 'push',
    'x-many': 'a, b',
  });
  expect(admittedHeaders(headers, [])).toBeUndefined();
  expect(admittedHeaders(headers, undefined)).toBeUndefined();
  expect(eventInput('{}', { 'x-event': '"quoted"' })).toBe(
    '{"text_content":"","data_content":{},"headers":{"x-event":"\\"quoted\\""}}',
  );
});

test('cookies are never part of an event', () =>
  expect(admittedHeaders({ cookie: 'secret', 'x-event': 'push' }, ['cookie', 'x-event'])).toEqual({
    'x-event': 'push',
  }));

test('a missing header is left out, whatever its name', () => {
  expect(admittedHeaders({}, ['constructor', 'x-event'])).toEqual({});
  expect(eventKey({}, { dedupe: 'constructor' })).toEqual({ outcome: 'none' });
});

test('the dedupe key is Idempotency-Key, or the header that the workflow names', () => {
  const both = { 'idempotency-key': 'k', 'x-delivery': 'd' };
  expect(eventKey(both, { dedupe: 'x-delivery' })).toEqual({ outcome: 'key', key: 'k' });
  expect(eventKey({ 'x-delivery': 'd' }, { dedupe: 'x-delivery' })).toEqual({ outcome: 'key', key: 'd' });
  const all = { ...both, 'webhook-id': 'm' };
  expect(eventKey(all, { delivery: 'webhook-id', dedupe: 'x-delivery' })).toEqual({
    outcome: 'key',
    key: 'm',
  });
  expect(eventKey(both, { delivery: 'webhook-id' })).toEqual({ outcome: 'key', key: 'k' });
  expect(eventKey({ 'x-delivery': 'd' })).toEqual({ outcome: 'none' });
});

test('an empty key, or one longer than 1,024 characters, is refused', () => {
  expect(eventKey({ 'idempotency-key': '' })).toEqual({ outcome: 'bad' });
  expect(eventKey({ 'idempotency-key': 'k'.repeat(1_024) }).outcome).toBe('key');
  expect(eventKey({ 'idempotency-key': 'k'.repeat(1_025) })).toEqual({ outcome: 'bad' });
});

test('events with another body, test flag, end node, user or kind of call have different hashes', () => {
  const event = { trigger: 'execute', test: false, text: '{}' };
  const others = [
    { text: '{ }' },
    { test: true },
    { test: true, until: 'a' },
    { test: true, until: 'b' },
    { trigger: 'webhook' },
    { user: 'ada' },
    { user: 'bob' },
    { user: 'ada"\n' },
    { until: 'ada' },
  ];
  const hashes = [event, ...others.map((other) => ({ ...event, ...other }))].map(eventHash);
  expect(new Set(hashes).size).toBe(10);
  expect(eventHash({ ...event })).toBe(hashes[0]);
});
