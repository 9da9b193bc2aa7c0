import { afterAll, beforeEach, expect, test } from 'vitest';
import type { CredentialSpec } from '../../../api/credential.ts';
import {
  answering,
  startHttpTarget,
  startRawServer,
  type Handler,
} from '../../../test/support/nodes/httpTarget.ts';
import { sendJson } from '../../../test/support/network/listen.ts';

const target = await startHttpTarget();
afterAll(() => target.close());
beforeEach(() => target.answer());

const ref = { name: 'api', key: 'key' };
const bearer: CredentialSpec = { http: { bearer: { tokenRef: ref } } };

test.each([
  [301, 'POST', 'GET'],
  [302, 'POST', 'GET'],
  [303, 'PUT', 'GET'],
  [303, 'HEAD', 'HEAD'],
  [307, 'POST', 'POST'],
  [308, 'PATCH', 'PATCH'],
  [302, 'DELETE', 'DELETE'],
])('a redirect with %i turns %s into %s', async (status, method, then) => {
  target.answer(({ url }, response) =>
    url === '/' ? response.writeHead(status, { location: '/next' }).end() : sendJson(response, 200, {}),
  );
  const body = method === 'HEAD' ? {} : { body: { a: 1 } };
  await target.call({ method, headers: { 'X-Own': '1' }, ...body }, { credential: bearer });
  const [, next] = target.seen;
  expect(next).toMatchObject({
    method: then,
    url: '/next',
    headers: { 'x-own': '1', authorization: 'Bearer test-secret' },
  });
  expect(next?.body).toBe(then === method && method !== 'HEAD' ? '{"a":1}' : '');
  expect('content-type' in (next?.headers ?? {})).toBe(next?.body !== '');
});

test.each([307, 302])(
  'to another origin neither the credential nor what else is private goes, and it does not come back (%i)',
  async (status) => {
    target.answer(({ url, headers }, response) => {
      if (url === '/') response.writeHead(status, { location: `${target.otherURL}/away` }).end();
      else if (url === '/away')
        response.writeHead(status, { location: `${target.url}/back?from=${headers.host}` }).end();
      else sendJson(response, 200, {});
    });
    const headers = { 'X-Private': '1', Cookie: 'a=b', Accept: 'application/json' };
    await target.call({ method: 'POST', body: 'x', headers }, { credential: bearer });
    expect(target.seen).toHaveLength(3);
    expect(target.seen[0]?.headers).toMatchObject({
      authorization: 'Bearer test-secret',
      cookie: 'a=b',
      'x-private': '1',
    });
    for (const { headers } of target.seen.slice(1)) {
      expect(headers).toMatchObject({ accept: 'application/json' });
      for (const name of ['authorization', 'cookie', 'x-private']) expect(headers).not.toHaveProperty(name);
    }
  },
);

test('a secret in the query is sent to the first origin alone', async () => {
  target.answer(({ url }, response) =>
    url?.startsWith('/away')
      ? sendJson(response, 200, {})
      : void response
          .writeHead(302, { location: url?.startsWith('/same') ? `${target.otherURL}/away` : '/same' })
          .end(),
  );
  await target.call({}, { credential: { http: { query: { name: 'key', valueRef: ref } } } });
  expect(target.seen.map(({ url }) => url)).toEqual(['/?key=test-secret', '/same?key=test-secret', '/away']);
});

test.each<[string, number, Handler, string, string]>([
  ['answers with 5xx', 303, answering(500, {}), 'UpstreamError', 'EffectUnknown'],
  ['asks to wait', 302, answering(429, {}), 'RateLimited', 'EffectUnknown'],
  ['breaks off', 303, (_request, response) => void response.destroy(), 'Unreachable', 'EffectUnknown'],
  [
    'cannot be read',
    301,
    answering(200, { 'content-encoding': 'gzip' }, 'not compressed'),
    'InvalidAnswer',
    'InvalidAnswer',
  ],
])(
  'where the page that a change leads to %s, the change is not asked for again, for it may be made',
  async (_what, status, then, reason, becomes) => {
    target.answer((request, response) =>
      request.url === '/'
        ? void response.writeHead(status, { location: '/next' }).end()
        : then(request, response),
    );
    const change = { method: 'POST' };
    const error = await target.failure(change, { effect: 'AtMostOnce' });
    expect(error).toMatchObject({ retryable: false, reason: becomes });
    expect(await target.failure({}, { effect: 'AtMostOnce' })).toMatchObject({ reason, retryable: true });
  },
);

test.each([
  ['a page after a change', 303, 'EffectUnknown'],
  ['the change itself', 307, 'Unreachable'],
])('a redirect of %s to a server that is not there', async (_what, status, reason) => {
  const raw = await startRawServer('');
  raw.close();
  target.answer(answering(status, { location: raw.url }));
  const error = await target.failure({ method: 'POST' }, { effect: 'AtMostOnce' });
  expect(error).toMatchObject({ reason });
});

test.each([
  ['more redirects than are to be followed', '/', {}, 'Refused', /redirects more than 2 times/],
  [
    'a redirect to another scheme',
    'ftp://a.example/',
    {},
    'Refused',
    /not followed: it must begin with https/,
  ],
  [
    'a redirect with a login',
    'http://a:b@a.example/',
    {},
    'Refused',
    /not followed: it must not hold a user/,
  ],
  ['a redirect to what is no URL', 'http://[', {}, 'InvalidAnswer', /an invalid URL/],
  ['a redirect that is not to be followed', '/', { followRedirects: 0 }, 'Refused', /with status 302/],
])('%s ends the step', async (_what, location, parameters, reason, message) => {
  target.answer(answering(302, { location }));
  expect(await target.failure({ followRedirects: 2, ...parameters })).toMatchObject({
    reason,
    retryable: false,
    message: expect.stringMatching(message),
  });
});
