/** What the headers of a request say of its body. */
import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createInFlight } from '../limits/inFlight.ts';
import { createLimits } from '../limits/limits.ts';
import { limitSettings } from '../limits/settings.ts';
import { hasBody, isJsonType, lingerAfterAnswer, refuseByHeaders } from './body.ts';

const limits = { ...createLimits(limitSettings.parse({ bodyBytes: 1_048_576 }), []), eventBytes: 1_000 };

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

test('a compressed body is refused, whatever its type', () => {
  expect(refuseByHeaders({ ...json, 'content-encoding': 'gzip' }, limits)).toBe('unsupported-media-type');
  expect(refuseByHeaders({ ...json, 'content-encoding': 'identity' }, limits)).toBe('unsupported-media-type');
});

test('a body at the limit is accepted, one byte more is refused', () => {
  expect(refuseByHeaders({ ...json, 'content-length': '1000' }, limits)).toBeUndefined();
  expect(refuseByHeaders({ ...json, 'content-length': '1001' }, limits)).toBe('event-too-large');
  expect(refuseByHeaders({ ...json, 'transfer-encoding': 'chunked' }, limits)).toBeUndefined();
});

test('the type is checked before the length', () => {
  expect(refuseByHeaders({ 'content-type': 'text/plain', 'content-length': '11' }, limits)).toBe(
    'unsupported-media-type',
  );
});

test('a length without free memory is refused before a byte is read', () => {
  const inFlight = createInFlight(2_000_000, 1_000_000);
  inFlight.reserve()?.growTo(999_999);
  inFlight.reserve()?.growTo(500_000);
  const full = { ...limits, eventBytes: 1_000_000, inFlight };
  expect(refuseByHeaders({ ...json, 'content-length': '999999' }, full)).toBe('overloaded');
  expect(refuseByHeaders({ ...json, 'content-length': '900' }, full)).toBeUndefined();
});

test('a request has a body if its headers announce one', () => {
  expect(hasBody({})).toBe(false);
  expect(hasBody({ 'content-length': '0' })).toBe(false);
  expect(hasBody({ 'content-length': '1' })).toBe(true);
  expect(hasBody({ 'transfer-encoding': 'chunked' })).toBe(true);
});

test('clients that disconnected before the refusal take no place of lingering ones', () => {
  const gone = () => ({ socket: Object.assign(new EventEmitter(), { destroyed: true }) });
  for (let calls = 0; calls < 1_000; calls += 1) lingerAfterAnswer(gone() as unknown as IncomingMessage);
  const socket = new EventEmitter() as Socket;
  lingerAfterAnswer({ socket } as IncomingMessage);
  expect(socket).toHaveProperty('destroySoon');
  socket.emit('close');
});
