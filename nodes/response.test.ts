import { expect, test } from 'vitest';
import { parseExact } from '../api/exact/exactNumber.ts';
import { StepError } from '../api/reasons.ts';
import { executeResponse } from './response.ts';

const reply = (fields: Parameters<typeof executeResponse>[0]) => executeResponse(fields).reply;

test('an object is sent as JSON with the status that was asked for', () => {
  expect(reply({ status: 201, body: { summary: 'two lamps' } })).toEqual({
    status: 201,
    headers: {},
    body: '{"summary":"two lamps"}',
    contentType: 'application/json; charset=utf-8',
  });
});

test('a string is sent as text, and contentType has the last word', () => {
  expect(reply({ body: 'thanks' })).toMatchObject({
    status: 200,
    body: 'thanks',
    contentType: 'text/plain; charset=utf-8',
  });
  expect(reply({ body: '<a/>', contentType: 'application/xml' })).toMatchObject({
    contentType: 'application/xml',
  });
  expect(reply({ body: 'a,b', headers: { 'Content-Type': 'text/csv' } })).toMatchObject({
    headers: {},
    contentType: 'text/csv',
  });
});

test('null is JSON, no body is empty, and a 204 never has one', () => {
  expect(reply({ body: null })?.body).toBe('null');
  expect(reply({})?.body).toBe('');
  expect(reply({ status: 204, body: { a: 1 } })?.body).toBe('');
});

test('header values that are no text become text, and names become lower case', () => {
  expect(reply({ headers: { 'X-Count': 3, 'X-Ok': true } })?.headers).toEqual({
    'x-count': '3',
    'x-ok': 'true',
  });
});

test.each([
  ['a line break', { 'X-A': 'a\r\nSet-Cookie: b=c' }],
  ['a line feed', { 'X-A': 'a\nb' }],
  ['a NUL', { 'X-A': 'a\u0000' }],
  ['a character beyond Latin-1', { 'X-A': '✓' }],
  ['a name with a space', { 'X A': 'b' }],
  ['a name with a line break', { 'X\r\nB': 'b' }],
  ['Set-Cookie', { 'Set-Cookie': 'a=b' }],
  ['Content-Length', { 'content-length': '3' }],
  ['Transfer-Encoding', { 'Transfer-Encoding': 'chunked' }],
  ['Connection', { Connection: 'close' }],
  ['NEL', { NEL: '{"report_to":"a=b"}' }],
  ['Report-To', { 'Report-To': 'a=b' }],
  ['Reporting-Endpoints', { 'reporting-endpoints': 'a=b' }],
  ['Clear-Site-Data', { 'Clear-Site-Data': '"*"' }],
  ['Service-Worker-Allowed', { 'Service-Worker-Allowed': '/' }],
  ['Alt-Svc', { 'Alt-Svc': 'h3=":443"' }],
  ['Strict-Transport-Security', { 'Strict-Transport-Security': 'max-age=1' }],
  ['Refresh', { Refresh: '0; url=https://evil.example' }],
  ['what nginx obeys', { 'X-Accel-Redirect': '/internal' }],
  ['what Envoy obeys', { 'x-envoy-immediate-health-check-fail': 'true' }],
])('headers with %s are refused without their value', (_what, headers) => {
  const attempt = () => executeResponse({ headers });
  expect(attempt).toThrow(StepError);
  expect(attempt).toThrow(expect.objectContaining({ reason: 'InvalidParameters' }));
  expect(attempt).not.toThrow(/a=b/);
});

test('a content type with a line break is refused', () => {
  expect(() => executeResponse({ body: 'a', contentType: 'text/plain\r\nX: y' })).toThrow(StepError);
});

test('the output says what was answered', () => {
  expect(executeResponse({ status: 202, body: [1] }).output).toEqual({
    text_content: 'Answered with status 202.',
    data_content: { status: 202, body: [1] },
  });
});

test('exact numbers are sent with every digit', () => {
  const data = parseExact('{"id":12345678901234567890}') as { id: unknown };
  expect(reply({ body: data, headers: { 'x-id': data.id } })).toMatchObject({
    body: '{"id":12345678901234567890}',
    headers: { 'x-id': '12345678901234567890' },
  });
  expect(reply({ body: data.id })).toMatchObject({
    body: '12345678901234567890',
    contentType: 'application/json; charset=utf-8',
  });
});
