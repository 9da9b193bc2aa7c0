import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../../kube/clock.ts';
import { listen, sendJson, type Listening } from '../../../test/support/network/listen.ts';
import { createProvider } from './oidc.ts';

let issuer: Listening;
let asked = 0;
let status = 200;

beforeAll(async () => {
  issuer = await listen((_request, response) => {
    asked += 1;
    const { url } = issuer;
    sendJson(response, status, { issuer: url, authorization_endpoint: `${url}/auth` });
  });
});
afterAll(() => issuer.close());
beforeEach(() => {
  asked = 0;
  status = 200;
});

const begunByMany = () => {
  const settings = { issuer: issuer.url, clientID: 'console', scopes: ['openid'], label: 'Sign in' };
  const provider = createProvider(settings, systemClock);
  const begin = () => provider.begin('http://console/console/oidc/callback');
  return { begin, all: Promise.allSettled(Array.from({ length: 20 }, begin)) };
};

test('concurrent sign-ins share one discovery request, and each has its own state', async () => {
  const begun = await begunByMany().all;
  const states = begun.map((each) => each.status === 'fulfilled' && each.value.begun.state);
  expect([asked, new Set(states).size]).toEqual([1, 20]);
});

test('so they do when discovery fails, and later sign-ins ask again', async () => {
  status = 500;
  const { begin, all } = begunByMany();
  expect((await all).map((each) => each.status)).toEqual(Array.from({ length: 20 }, () => 'rejected'));
  expect(asked).toBe(1);
  status = 200;
  expect((await begin()).url).toContain(`${issuer.url}/auth?`);
});
