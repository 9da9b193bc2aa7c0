/** Skills in chains, as a runner executes them. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { connectRunStore } from '../../../store/connection.ts';
import { answering, startHttpTarget } from '../../support/nodes/httpTarget.ts';
import { sendJson } from '../../support/network/listen.ts';
import { startRedis } from '../../support/runStore/redis.ts';
import { openTestProject, startTestRunner } from '../../support/runner/runnerProject.ts';
import { startSheetsServer } from '../../support/providers/google/sheetsServer.ts';
import { startSlackServer } from '../../support/providers/slack/slackServer.ts';

const redis = await startRedis();
const target = await startHttpTarget();
const sheets = await startSheetsServer({ token: 'test-secret' });
const slack = await startSlackServer({ token: 'test-secret' });
const conn = connectRunStore({ url: redis.url, name: 'test' });
const project = await openTestProject(conn);
const runner = startTestRunner(conn, project.uid, {
  credentials: {
    shop: {
      spec: {
        http: {
          header: { name: 'X-Api-Key', valueRef: { name: 's', key: 'key' } },
          allowedHosts: [target.url, 'http://169.254.169.254'],
        },
      },
    },
    sheets: { spec: { oauth2: { preset: 'google', clientID: 'windlass', apiURL: sheets.url } } },
    bot: { spec: { bot: { platform: 'slack', apiURL: slack.url, tokenRef: { name: 's', key: 'key' } } } },
  },
});
beforeEach(() => target.answer());
afterAll(async () => {
  await runner.stop(0);
  await conn.close();
  await Promise.all([target.close(), sheets.close(), slack.close(), redis.stop()]);
});

const trigger = { id: 'trigger', webhook: { path: 'orders' } };
const shape = {
  id: 'shape',
  skill: {
    name: 'set',
    parameters: {
      values: {
        lines: 'size(nodes.trigger.data_content.items)',
        names: 'nodes.trigger.data_content.items.map(i, i.name)',
      },
    },
  },
};
const create = (more: object = {}, parameters: object = {}) => ({
  id: 'create',
  skill: {
    name: 'http_request',
    credential: 'shop',
    parameters: {
      method: 'POST',
      url: `${target.url}/orders/{{ $('trigger').data_content.number }}`,
      body: { names: "{{ $('shape').data_content.names }}" },
      ...parameters,
    },
  },
  ...more,
});
const reply = {
  id: 'reply',
  response: {
    body: { id: "{{ $('create').data_content.body.id }}", lines: "{{ $('shape').data_content.lines }}" },
  },
};
const order = { number: 'A-1', items: [{ name: 'lamp' }, { name: 'cable' }] };
const retry = { limit: 1, backoff: { initial: '10ms' } };

test('values are computed, sent and answered, and the secret is nowhere in what is kept', async () => {
  target.answer(({ headers }, response) => sendJson(response, 201, { id: 7, sent: headers['x-api-key'] }));
  const revision = await project.deploy([trigger, shape, create(), reply]);
  const state = await project.ended(await project.send(revision, order));
  expect(state).toMatchObject({ phase: 'Succeeded', reply: { body: '{"id":7,"lines":2}' } });
  expect(target.seen).toMatchObject([
    {
      method: 'POST',
      url: '/orders/A-1',
      body: '{"names":["lamp","cable"]}',
      headers: { 'x-api-key': 'test-secret' },
    },
  ]);
  expect(JSON.stringify(state)).not.toContain('test-secret');
  expect(state.nodes.find(({ id }) => id === 'create')?.output?.data_content).toMatchObject({
    status: 201,
    body: { id: 7, sent: '[secret]' },
  });
});

test('a run keeps what a step has sent, with the secret masked whoever gave it, and what a failed reference found', async () => {
  target.answer((_request, response) => sendJson(response, 201, { id: 7 }));
  const wrong = { id: 'reply', response: { body: "{{ $('create').data_content.body.number }}" } };
  const revision = await project.deploy([trigger, shape, create(), wrong]);
  const state = await project.ended(await project.send(revision, { ...order, number: 'test-secret' }));
  expect(state.nodes.find(({ id }) => id === 'create')?.sent).toEqual({
    parameters: {
      method: 'POST',
      url: `${target.url}/orders/[secret]`,
      body: { names: ['lamp', 'cable'] },
    },
  });
  expect(state.nodes.find(({ id }) => id === 'reply')).toMatchObject({
    phase: 'Failed',
    reason: 'MissingValue',
    missing: { at: "$('create').data_content.body", type: 'object', size: 1, keys: ['id'] },
  });
});

test('a request that fails is tried again with the key of the next attempt, and its last failure names node and cause', async () => {
  target.answer(answering(503, { 'retry-after': '0' }, 'later'));
  const revision = await project.deploy([trigger, shape, create({ retry }), reply]);
  const run = await project.send(revision, order);
  expect(await project.ended(run)).toMatchObject({
    phase: 'Failed',
    message: expect.stringMatching(/^node create: UpstreamError: .* answered POST with status 503: later$/),
  });
  const prefix = `${project.uid}/${run}/create`;
  expect(target.seen.map(({ headers }) => headers['idempotency-key'])).toEqual([
    `${prefix}/1`,
    `${prefix}/2`,
  ]);
});

test('a host that is not admitted fails the node once, whatever its retries', async () => {
  const url = "http://{{ $('trigger').data_content.host }}/";
  const revision = await project.deploy([trigger, shape, create({ retry }, { url }), reply]);
  const state = await project.ended(await project.send(revision, { ...order, host: '169.254.169.254' }));
  expect(state.nodes.find(({ id }) => id === 'create')).toMatchObject({
    phase: 'Failed',
    attempts: 1,
    reason: 'AddressForbidden',
    message: expect.stringMatching(
      /^169\.254\.169\.254 is a link-local address, .* runner\.egress\.allow of the chart/,
    ),
  });
});

const spreadsheetId = 'orders';
const add = {
  id: 'add',
  skill: {
    name: 'append_row',
    credential: 'sheets',
    parameters: { spreadsheetId, values: { Number: "{{ $('trigger').data_content.number }}", State: 'new' } },
  },
  retry,
};
const lookup = {
  id: 'lookup',
  skill: { name: 'read_rows', credential: 'sheets', parameters: { spreadsheetId, where: { State: 'new' } } },
};
const tell = {
  id: 'tell',
  skill: {
    name: 'send_message',
    credential: 'bot',
    parameters: {
      chatId: 'C1',
      text: "{{ $('lookup').data_content.rows[0].values.Number }} is in row {{ $('add').data_content.row }}",
    },
  },
};

test('a row is added and read, and a message tells of it', async () => {
  sheets.put(spreadsheetId, [['Number', 'State']]);
  const revision = await project.deploy([trigger, add, lookup, tell]);
  const state = await project.ended(await project.send(revision, { number: '=A1' }));
  expect(state.phase).toBe('Succeeded');
  expect(sheets.sheet(spreadsheetId).rows).toEqual([
    ['Number', 'State'],
    ['=A1', 'new'],
  ]);
  expect(slack.posted).toMatchObject([{ channel: 'C1', text: '=A1 is in row 2' }]);
});

test('a row of which nobody knows whether it was added is not added once more, whatever its retries', async () => {
  sheets.put(spreadsheetId, [['Number', 'State']]);
  sheets.setFault('lostAnswer', { path: ':append' });
  const revision = await project.deploy([trigger, add]);
  const state = await project.ended(await project.send(revision, { number: 7 }));
  sheets.setFault(undefined);
  expect(state).toMatchObject({ phase: 'Failed', nodes: [{}, { id: 'add', phase: 'Unknown', attempts: 1 }] });
  expect(sheets.sheet(spreadsheetId).rows).toHaveLength(2);
});
