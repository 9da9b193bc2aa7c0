import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { hasBody, isJsonType, readBody, refuseByHeaders } from './body.ts';
import { createInFlight } from './limits/inFlight.ts';
import { createLimits } from './limits/limits.ts';
import { limitSettings } from './limits/settings.ts';

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

test('what is compressed is refused, whatever it is declared as', () => {
  expect(refuseByHeaders({ ...json, 'content-encoding': 'gzip' }, limits)).toBe('unsupported-media-type');
  expect(refuseByHeaders({ ...json, 'content-encoding': 'identity' }, limits)).toBe('unsupported-media-type');
});

test('the limit itself is accepted, one byte more is not', () => {
  expect(refuseByHeaders({ ...json, 'content-length': '1000' }, limits)).toBeUndefined();
  expect(refuseByHeaders({ ...json, 'content-length': '1001' }, limits)).toBe('event-too-large');
  expect(refuseByHeaders({ ...json, 'transfer-encoding': 'chunked' }, limits)).toBeUndefined();
});

test('the type is judged before the length', () => {
  expect(refuseByHeaders({ 'content-type': 'text/plain', 'content-length': '11' }, limits)).toBe(
    'unsupported-media-type',
  );
});

test('a length that there is no room for now is refused before a byte of it is read', () => {
  const inFlight = createInFlight(2_000_000, 1_000_000);
  inFlight.open()?.growTo(999_999);
  inFlight.open()?.growTo(500_000);
  const full = { ...limits, eventBytes: 1_000_000, inFlight };
  expect(refuseByHeaders({ ...json, 'content-length': '999999' }, full)).toBe('overloaded');
  expect(refuseByHeaders({ ...json, 'content-length': '900' }, full)).toBeUndefined();
});

test('a request has a body if it says so', () => {
  expect(hasBody({})).toBe(false);
  expect(hasBody({ 'content-length': '0' })).toBe(false);
  expect(hasBody({ 'content-length': '1' })).toBe(true);
  expect(hasBody({ 'transfer-encoding': 'chunked' })).toBe(true);
});

test('what was set aside for a body that turns out too large is given back at once, not by the collector', async () => {
  const part = Buffer.alloc(150_000, 'a');
  const before = process.memoryUsage().arrayBuffers;
  for (let bodies = 0; bodies < 20; bodies += 1) {
    const hold = createInFlight(4_000_000, 1_000_000).open();
    if (hold === undefined) throw new Error('there is no room');
    const request = Object.assign(new PassThrough(), { headers: {} }) as unknown as IncomingMessage &
      PassThrough;
    const read = readBody(request, {} as ServerResponse, { limit: 1_000_000, hold });
    for (let parts = 0; parts < 7; parts += 1) request.write(part);
    expect(await read).toEqual({ outcome: 'too-large' });
  }
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2_000_000);
});

test.each([
  ['that announces its length takes no more room than that', { 'content-length': '600000' }, 600_000],
  ['that does not takes room in advance, up to the limit', { 'transfer-encoding': 'chunked' }, 800_000],
])('a body %s', async (_what, headers, most) => {
  const inFlight = createInFlight(4_000_000, 1_000_000);
  const hold = inFlight.open();
  if (hold === undefined) throw new Error('there is no room');
  const empty = inFlight.bytes();
  const request = Object.assign(new PassThrough(), { headers }) as unknown as IncomingMessage & PassThrough;
  const read = readBody(request, {} as ServerResponse, { limit: 1_000_000, hold });
  const parts = [Buffer.alloc(400_000, 'a'), Buffer.alloc(200_000, 'b')];
  for (const part of parts) request.write(part);
  request.end();
  expect(await read).toEqual({ outcome: 'read', bytes: Buffer.concat(parts) });
  expect(inFlight.bytes() - empty).toBe(most);
});
