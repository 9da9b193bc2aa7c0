/** What the skill `http_request` sends, and which parameters it takes. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { parseExact } from '../../api/exact/exactNumber.ts';
import { startHttpTarget } from '../../test/support/nodes/httpTarget.ts';
import { sendJson } from '../../test/support/network/listen.ts';
import { stepContext } from '../../test/support/nodes/stepContext.ts';
import { findSkill, validateSkill } from '../register.ts';

const target = await startHttpTarget();
afterAll(() => target.close());
beforeEach(() => target.answer());

test('an answer is given with status, headers and body, and JSON as what it is', async () => {
  target.answer((_request, response) =>
    sendJson(response, 200, { items: [1] }, { 'X-Total': '1', 'set-cookie': 'a=b' }),
  );
  const { output } = await target.call({ url: `${target.url}/orders?open=true#part` });
  expect(output).toEqual({
    text_content: '{"items":[1]}',
    data_content: {
      status: 200,
      headers: expect.objectContaining({ 'content-type': 'application/json', 'x-total': '1' }),
      body: { items: [1] },
    },
  });
  expect(output.data_content).not.toHaveProperty(['headers', 'set-cookie']);
  expect(target.seen).toMatchObject([
    { method: 'GET', url: '/orders?open=true', headers: { connection: 'close' } },
  ]);
});

test('parameters of the query are added to what the URL has, which stays as it is written', async () => {
  await target.call({
    url: `${target.url}/?q=a%20b`,
    query: { 'a b': 'c&d=e', list: [1, true], none: null, text: 'ä+' },
  });
  expect(target.seen[0]?.url).toBe('/?q=a%20b&a%20b=c%26d%3De&list=1&list=true&text=%C3%A4%2B');
});

test.each([
  ['a text', { body: 'Hi' }, 'text/plain; charset=utf-8', 'Hi'],
  ['an object', { body: { a: [1, null] } }, 'application/json', '{"a":[1,null]}'],
  ['null', { body: null }, 'application/json', 'null'],
  [
    'a form',
    { body: { a: 'b c', n: [1, 2] }, contentType: 'application/x-www-form-urlencoded' },
    'application/x-www-form-urlencoded',
    'a=b+c&n=1&n=2',
  ],
  ['a type of its own', { body: '<a/>', contentType: 'application/xml' }, 'application/xml', '<a/>'],
  [
    'a type from the headers',
    { body: '{}', headers: { 'Content-Type': 'application/json' } },
    'application/json',
    '{}',
  ],
])('a body is sent as what it is: %s', async (_what, parameters, type, body) => {
  await target.call({ method: 'post', ...parameters });
  expect(target.seen).toMatchObject([{ method: 'POST', headers: { 'content-type': type }, body }]);
});

test.each([
  ['GET', undefined],
  ['PUT', undefined],
  ['DELETE', undefined],
  ['POST', 'run-1/step/1'],
  ['PATCH', 'run-1/step/1'],
])('%s carries the key of the effect where a repeated request would do more', async (method, key) => {
  await target.call({ method });
  expect(target.seen[0]?.headers['idempotency-key']).toBe(key);
});

test('a step may name a key of its own, and a key that is too long for servers is a hash', async () => {
  await target.call({ method: 'POST', headers: { 'Idempotency-Key': 'order-1' } });
  await target.call({ method: 'POST' }, { effectKey: 'x'.repeat(300) });
  expect(target.seen.map(({ headers }) => headers['idempotency-key'])).toEqual([
    'order-1',
    expect.stringMatching(/^[0-9a-f]{64}$/),
  ]);
});

const invalid: [what: string, parameters: object, problem: RegExp][] = [
  ['no URL', {}, /^url: is missing/],
  ['a relative URL', { url: '/orders' }, /^url: must be a URL/],
  ['another scheme', { url: 'ftp://example.com/' }, /^url: must begin with https/],
  ['a file', { url: 'file:///etc/passwd' }, /^url: must begin with https/],
  ['a host without slashes', { url: 'https:a.example/' }, /^url: must have a host directly after https/],
  ['a host after backslashes', { url: 'https:\\\\a.example/' }, /^url: must have a host directly after/],
  ['a host after three slashes', { url: 'https:///a.example/' }, /^url: must have a host directly after/],
  [
    'a reference in the place of a host, after three slashes',
    { url: "https:///{{ $('a').text_content }}/" },
    /^url: must have a host directly after/,
  ],
  ['a login in the URL', { url: 'http://user:pw@example.com/' }, /^url: must not hold a user/],
  ['a user alone', { url: 'http://public.example@127.0.0.1/' }, /^url: must not hold a user/],
  ['a line break in the URL', { url: 'http://a.example/\r\nX: y' }, /^url: must not hold spaces/],
  ['a tab in the URL', { url: 'ht\ttp://a.example/' }, /^url: must not hold spaces/],
  [
    'a line break in a header',
    { url: 'http://a.example/', headers: { 'X-A': 'b\r\nX-C: d' } },
    /^headers\["X-A"\]: holds a line break/,
  ],
  ['NUL in a header', { url: 'http://a.example/', headers: { 'X-A': 'b\0' } }, /^headers\["X-A"\]: holds/],
  [
    'a line break in a name',
    { url: 'http://a.example/', headers: { 'X-A\r\nX-B': 'c' } },
    /^headers: a name is not a valid HTTP header name/,
  ],
  [
    'a header of the connection',
    { url: 'http://a.example/', headers: { 'Content-Length': '3' } },
    /^headers\["Content-Length"\]: is set by the connection/,
  ],
  [
    'a Host',
    { url: 'http://a.example/', headers: { Host: 'b.example' } },
    /^headers\.Host: is set by the connection/,
  ],
  [
    'a line break in the type',
    { url: 'http://a.example/', method: 'POST', body: '', contentType: 'a/b\r\nX: y' },
    /^contentType: /,
  ],
  ['an unknown method', { url: 'http://a.example/', method: 'CONNECT' }, /^method: must be one of GET/],
  ['a body with GET', { url: 'http://a.example/', body: {} }, /^body: cannot be sent with GET/],
  [
    'a larger bound than there is',
    { url: 'http://a.example/', maxResponseBytes: 524_288 },
    /^maxResponseBytes: /,
  ],
  ['an invalid status', { url: 'http://a.example/', expect: ['2xy'] }, /^expect\[0\]: must be a status/],
  ['too many redirects', { url: 'http://a.example/', followRedirects: 11 }, /^followRedirects: /],
  ['an unknown parameter', { url: 'http://a.example/', uri: '' }, /no parameter named uri/],
];

test.each(invalid)(
  '%s is found when the workflow is checked, and refused when it is executed',
  async (_what, parameters, problem) => {
    expect(validateSkill('http_request', { ...parameters })).toEqual([expect.stringMatching(problem)]);
    const execute = findSkill('http_request')!.execute(parameters, stepContext({ http: {} }), undefined);
    await expect(execute).rejects.toMatchObject({ reason: 'InvalidParameters' });
  },
);

test('what a reference will give is not judged before it is known', () => {
  const parameters = {
    url: "{{ $('a').text_content }}/x",
    method: "{{ $('a').data_content.m }}",
    headers: { 'X-A': "{{ $('a').text_content }}" },
  };
  expect(validateSkill('http_request', parameters)).toEqual([]);
});

test('exact numbers are sent and received with every digit', async () => {
  const text = '{"id":12345678901234567890,"price":0.1000000000000000055511151231257827}';
  target.answer((_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(text),
  );
  const data = parseExact(text) as { id: unknown };
  const { output } = await target.call({
    method: 'POST',
    url: `${target.url}/`,
    query: { id: data.id, all: [data.id] },
    headers: { 'x-id': data.id },
    body: data,
  });
  expect(target.seen).toMatchObject([
    {
      url: '/?id=12345678901234567890&all=12345678901234567890',
      headers: { 'x-id': '12345678901234567890' },
      body: text,
    },
  ]);
  expect(JSON.stringify((output.data_content as { body: unknown }).body)).toBe(text);
  await target.call({
    method: 'POST',
    url: target.url,
    contentType: 'application/x-www-form-urlencoded',
    body: data,
  });
  expect(target.seen.at(-1)?.body).toBe('id=12345678901234567890&price=0.1000000000000000055511151231257827');
});
