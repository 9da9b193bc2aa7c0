import { expect, test } from 'vitest';
import { hasBody, isJsonType, refuseByHeaders } from './body.ts';

test.each([
  'application/json',
  'Application/JSON',
  'application/json; charset=utf-8',
  'application/json;charset="UTF-8"',
  'application/json; charset=utf-8; profile=x',
  'application/cloudevents+json',
  'application/vnd.api+json',
])('%s is JSON', (type) => {
  expect(isJsonType(type)).toBe(true);
});

test.each([
  undefined,
  '',
  'text/plain',
  'text/json',
  'application/x-json',
  'application/jsonp',
  'application/json; charset=utf-16',
  'application/json; charset=latin1',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=json',
  'application/json, text/plain',
  '+json',
  'application/+json',
])('%s is not JSON', (type) => {
  expect(isJsonType(type)).toBe(false);
});

const json = { 'content-type': 'application/json' };

test('what is compressed is refused, whatever it is declared as', () => {
  expect(refuseByHeaders({ ...json, 'content-encoding': 'gzip' }, 10)).toBe('unsupported-media-type');
  expect(refuseByHeaders({ ...json, 'content-encoding': 'identity' }, 10)).toBe('unsupported-media-type');
});

test('the limit itself is accepted, one byte more is not', () => {
  expect(refuseByHeaders({ ...json, 'content-length': '10' }, 10)).toBeUndefined();
  expect(refuseByHeaders({ ...json, 'content-length': '11' }, 10)).toBe('too-large');
  expect(refuseByHeaders({ ...json, 'transfer-encoding': 'chunked' }, 10)).toBeUndefined();
});

test('the type is judged before the length', () => {
  expect(refuseByHeaders({ 'content-type': 'text/plain', 'content-length': '11' }, 10)).toBe(
    'unsupported-media-type',
  );
});

test('a request has a body if it says so', () => {
  expect(hasBody({})).toBe(false);
  expect(hasBody({ 'content-length': '0' })).toBe(false);
  expect(hasBody({ 'content-length': '1' })).toBe(true);
  expect(hasBody({ 'transfer-encoding': 'chunked' })).toBe(true);
});
