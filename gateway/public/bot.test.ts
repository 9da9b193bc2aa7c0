import { createHmac } from 'node:crypto';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RouteSpec } from '../../api/route.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { createGatewayDeps } from '../../test/support/gateway/gatewayDeps.ts';
import { createRouteTable } from '../routing/table.ts';
import { buildPublic } from '../server.ts';

const KEY = Buffer.from('s3cret');
let app: FastifyInstance;
let close: () => void;

function route(credential: string, bot: Partial<RouteSpec['bot']>, active = true): KubeObject {
  const verify = {
    secretRefs: [{ name: 'bot', key: 'token' }],
    toleranceSeconds: 300,
    material: '0123456789abcdef',
  };
  return {
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'WebhookRoute',
    metadata: { name: `of-${credential}`, namespace: 'shop', uid: `uid-${credential}`, generation: 1 },
    spec: {
      workflow: `of-${credential}`,
      workflowUID: `workflow-${credential}`,
      projectUID: 'project',
      revision: 'r-1',
      trigger: 'bot',
      active,
      bot: { credential, verify, ...bot },
    },
  };
}

beforeAll(() => {
  const routes = createRouteTable();
  routes.put(route('telegram', { platform: 'telegram', commands: ['/order'], username: 'our_bot' }), [KEY]);
  routes.put(route('slack', { platform: 'slack', chatTypes: ['private'] }), [KEY]);
  routes.put(route('waiting', { platform: 'telegram' }));
  routes.put(route('unknown', {}), [KEY]);
  routes.put(route('off', { platform: 'telegram' }, false), [KEY]);
  const made = createGatewayDeps({ routes });
  close = made.close;
  app = buildPublic(made.deps);
});

afterAll(async () => {
  await app.close();
  close();
});

type Answer = { status: number; type: string; body: string };

async function send(
  credential: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const request: InjectOptions = {
    method: 'POST',
    url: `/bot/shop.${credential}`,
    payload: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  };
  const answer = await app.inject(request);
  return { status: answer.statusCode, type: String(answer.headers['content-type']), body: answer.body };
}

const SECRET = { 'x-telegram-bot-api-secret-token': 's3cret' };
const update = (text: string, over: object = {}) => ({
  update_id: 1,
  message: { message_id: 1, date: 1, chat: { id: 5, type: 'private' }, text, ...over },
});
const NOTHING: Answer = { status: 200, type: 'application/json; charset=utf-8', body: '{}' };

test('an update that the workflow wants is submitted', async () => {
  // Nobody answers for the run store here, so that whoever passes all checks is told to come again.
  const { status, body } = await send('telegram', update('/order 2'), SECRET);
  expect([status, body]).toEqual([503, expect.stringContaining('run-store-unavailable')]);
});

test.each([
  ['another command', update('/help')],
  ['a command to another bot', update('/order@another_bot')],
  ['no command', update('order')],
  ['an edited message', { update_id: 1, edited_message: update('/order').message }],
  ['an update of an unknown kind', { update_id: 1, quantum_message: {} }],
  ['what is no update at all', []],
])('%s gets 200 and starts nothing', async (_what, body) => {
  expect(await send('telegram', body, SECRET)).toEqual(NOTHING);
});

test.each([
  ['no secret', {}],
  ['another secret', { 'x-telegram-bot-api-secret-token': 's3cres' }],
  ['a part of the secret', { 'x-telegram-bot-api-secret-token': 's3cre' }],
  ['the secret as a token', { authorization: 'Bearer s3cret' }],
])('with %s every call is refused', async (_what, headers) => {
  const answers = await Promise.all(
    [update('/order'), update('/help'), 'no JSON', {}].map((body) => send('telegram', body, headers)),
  );
  const bodies = answers.map(({ status, body }) => [status, body.replace(/urn:uuid:[0-9a-f-]{36}/, '')]);
  expect(new Set(bodies.map((each) => JSON.stringify(each))).size).toBe(1);
  expect(bodies[0]?.[0]).toBe(401);
});

function signed(body: string, atSeconds = Math.floor(Date.now() / 1_000)): Record<string, string> {
  const signature = createHmac('sha256', KEY).update(`v0:${atSeconds}:${body}`).digest('hex');
  return { 'x-slack-request-timestamp': String(atSeconds), 'x-slack-signature': `v0=${signature}` };
}

test('Slack gets its challenge as text, if the request is signed', async () => {
  const body = JSON.stringify({ type: 'url_verification', challenge: '<script>' });
  expect(await send('slack', body, signed(body))).toEqual({
    status: 200,
    type: 'text/plain; charset=utf-8',
    body: '<script>',
  });
  expect((await send('slack', body)).status).toBe(401);
  expect((await send('slack', body, signed(`${body} `))).status).toBe(401);
});

test('a Slack signature with an old or future time is refused', async () => {
  const body = JSON.stringify({ type: 'url_verification', challenge: 'x' });
  const now = Math.floor(Date.now() / 1_000);
  expect((await send('slack', body, signed(body, now - 310))).status).toBe(401);
  expect((await send('slack', body, signed(body, now + 310))).status).toBe(401);
  expect((await send('slack', body, signed(body, now - 200))).status).toBe(200);
});

test('a message of an unwanted chat gets 200 and starts nothing', async () => {
  const event = (channel_type: string) =>
    JSON.stringify({
      type: 'event_callback',
      event_id: 'Ev1',
      event: { type: 'message', channel: 'C1', channel_type, user: 'U1', text: 'Hello' },
    });
  const [wanted, other] = [event('im'), event('channel')];
  expect(await send('slack', other, signed(other))).toEqual(NOTHING);
  expect((await send('slack', wanted, signed(wanted))).status).toBe(503);
});

test('a bot without a secret or platform refuses everybody', async () => {
  for (const credential of ['waiting', 'unknown']) {
    const { status, body } = await send(credential, update('/order'), SECRET);
    expect([status, body]).toEqual([503, expect.stringContaining('callers-unverifiable')]);
  }
});

test('unknown and inactive bots get the same answer', async () => {
  const answers = await Promise.all(
    ['off', 'no-such', '', 'telegram/', 'telegram/x', '%74elegram'].map((name) =>
      send(name, update('/order'), SECRET),
    ),
  );
  const told = answers.map(({ status, body }) => [status, body.replace(/urn:uuid:[0-9a-f-]{36}/, '')]);
  expect(new Set(told.map((each) => JSON.stringify(each))).size).toBe(1);
  expect(told[0]?.[0]).toBe(404);
});

test.each([
  ['no JSON', 400],
  ['{"update_id":1e400}', 422],
  ['{"a":1,"a":2}', 422],
])('%s is refused', async (body, status) => {
  expect((await send('telegram', body, SECRET)).status).toBe(status);
});

test('a body that is not declared as JSON is refused', async () => {
  const headers = { ...SECRET, 'content-type': 'application/x-www-form-urlencoded' };
  expect((await send('telegram', 'payload=%7B%7D', headers)).status).toBe(415);
});
