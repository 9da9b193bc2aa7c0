/**
 * Secrets, and what callers send, on every path that fails: none of it is in a log, a status, an Event, a
 * metric or an answer, and in records and the run store only what docs/security.md says.
 */
import { inspect } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Credential } from '../../../api/kinds.ts';
import { findCondition } from '../../../kube/conditions.ts';
import { configMaps } from '../../../kube/resource.ts';
import { workflowRuns } from '../../../operator/shared/resources.ts';
import { auditTrail } from '../../support/logs/auditTrail.ts';
import { findCanaries as found, type Canary, type Source } from '../../support/rights/canaries.ts';
import { callOfHook, refusedCalls } from '../../support/rights/canaryCalls.ts';
import { APIS, failingProject } from '../../support/rights/canaryProject.ts';
import { startCanaryHarness, PROJECT, type CanaryHarness } from '../../support/rights/canaryHarness.ts';
import {
  damaged,
  inSecrets,
  planted,
  redisPassword,
  refused,
  sent,
  stored,
} from '../../support/rights/canaryTexts.ts';
import { startEchoMailServer, startEchoServer } from '../../support/providers/http/echoServer.ts';
import type { Listening } from '../../support/network/listen.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { ask, type Ask } from '../../support/gateway/rawCalls.ts';

const SOON = { timeoutMs: 40_000, everyMs: 100 };

let echo: Listening;
let mail: { port: number; close(): void };
let canaries: CanaryHarness;
const answers: string[] = [];

beforeAll(async () => {
  [echo, mail] = await Promise.all([startEchoServer(), startEchoMailServer()]);
  canaries = await startCanaryHarness(failingProject({ echoURL: echo.url, mailPort: mail.port }), 'last');
}, 120_000);
afterAll(async () => {
  await canaries?.stop();
  await echo?.close();
  mail?.close();
});

/** Asks, and keeps the answer. */
async function keep(url: string, request: Ask): Promise<string> {
  const answer = await ask(url, request);
  answers.push(answer);
  return answer;
}

function hook(name: string, call: Omit<Ask, 'path'> = {}): Promise<string> {
  const { url, request } = callOfHook(canaries, name, call);
  return keep(url, request);
}

test.each([
  'mail',
  'model',
  'model-away',
  'no-header',
  'missing',
  'cel',
  'cel-index',
  'bad-url',
  'bad-header',
  'bad-recipient',
  'port-of-url',
  ...APIS.flatMap((kind) =>
    ['500', '400', '401', 'away', 'tls', 'elsewhere', 'large'].map((how) => `${kind}-${how}`),
  ),
])('a step that fails: %s', async (name) => {
  const request = {
    method: 'POST',
    path: `/workflows/${PROJECT}.fails-${name}/execute`,
    token: canaries.caller,
    headers: { prefer: 'wait=30' },
    body: JSON.stringify({ secret: stored.input.text }),
  };
  const answer = await pollUntil(
    'a run',
    async () => {
      const got = await ask(canaries.gateway.internalURL, request);
      return !got.startsWith('404 ') && got;
    },
    SOON,
  );
  expect(answer).toMatch(/^200 [^]*"phase":"Failed"/);
  expect(found(Object.values(inSecrets), [{ name: 'the answer', text: answer }])).toEqual([]);
});

test('credentials that are tried say what servers repeat, without the secrets', async () => {
  const path = `/apis/windlass.dev/v1alpha1/namespaces/${PROJECT}/credentials`;
  const tried = async (): Promise<string[]> => {
    const { items } = (await canaries.harness.client.raw('GET', path)) as { items: Credential[] };
    return items.flatMap(({ metadata, status }) => {
      const { reason = '', status: is } = findCondition(status?.conditions, 'Ready') ?? {};
      return is === 'False' ? [`${metadata.name} ${reason}`] : [];
    });
  };
  await expect
    .poll(async () => (await tried()).toSorted(), { timeout: 40_000, interval: 100 })
    .toEqual([
      'basic Rejected',
      'bearer Rejected',
      'header Rejected',
      'model Rejected',
      'model-away Unreachable',
      'no-header Rejected',
      'query Rejected',
      'smtp Rejected',
    ]);
}, 60_000);

test('callers that are refused are not repeated', async () => {
  await pollUntil('the webhooks', async () => !(await hook('hmac')).startsWith('404 '), SOON);
  const calls = Object.entries(refusedCalls(canaries));
  const got = await Promise.all(
    calls.map(async ([what, { url, request }]) => [what, (await keep(url, request)).slice(0, 3)]),
  );
  expect(Object.fromEntries(got)).toEqual({
    'a token that nobody knows': '401',
    "another project's workflow": '403',
    'a wrong bearer token': '401',
    'a wrong password': '401',
    'a secret with a line break': '503',
    "a wrong signature of GitHub's": '401',
    'a wrong signature': '401',
    'a key that is too long': '400',
    'a body that is no JSON': '400',
    'a body that is too deep': '422',
    'a body that is too large': '413',
    'a body of another type': '415',
    'a webhook that is not there': '404',
    'a workflow that is not there': '404',
    'an address that is not there': '404',
    'a query that is not known': '400',
  });
});

test('what is not admitted of an event is not kept, and one that is repeated otherwise is refused without its key', async () => {
  const headers = { 'idempotency-key': stored.key.text, 'x-other': sent.header.text };
  const body = JSON.stringify({ secret: stored.input.text });
  expect(await hook('open', { headers, body })).toMatch(/^200 /);
  expect(await hook('open', { headers, body: '{}' })).toMatch(/^422 /);
});

test('programs that cannot log in to the run store do not say with what', async () => {
  const env = { REDIS_PASSWORD: redisPassword.text };
  await Promise.all([canaries.failing('gateway', env), canaries.failing('runner', env)]);
  for (const name of ['another gateway', 'another runner']) {
    const text = canaries.logs[name]?.join('\n') ?? '';
    expect(text).toContain('"listening"');
    expect(found([redisPassword], [{ name, text }])).toEqual([]);
  }
}, 90_000);

test('keys of a wrong type are told by their names', async () => {
  const route = (await canaries.harness.client.raw(
    'GET',
    `/apis/windlass.dev/v1alpha1/namespaces/${PROJECT}/webhookroutes/last`,
  )) as { spec: { workflowUID: string } };
  const name = `wl:{${canaries.uid}}:wf:${route.spec.workflowUID}`;
  await canaries.store.command('set', name, damaged.text);
  const answer = await keep(canaries.gateway.internalURL, {
    method: 'POST',
    path: `/workflows/${PROJECT}.last/execute`,
    token: canaries.caller,
    body: JSON.stringify({ secret: stored.input.text }),
  });
  expect(answer).toMatch(/^503 /);
  await canaries.store.command('unlink', name);
});

test('what the API server says of a value that it refuses does not quote it', async () => {
  const { client } = canaries.harness;
  const outcomes = await Promise.allSettled([
    client.create(configMaps, {
      metadata: { namespace: PROJECT, name: 'refused', labels: { a: refused.text } },
    }),
    client.create(workflowRuns, {
      metadata: { namespace: PROJECT, name: 'refused' },
      spec: { workflow: refused.text },
    }),
  ]);
  for (const outcome of outcomes) {
    const error: unknown = outcome.status === 'rejected' ? outcome.reason : undefined;
    expect(String(error)).toMatch(/ApiError: POST .* 422 .*Invalid value: …: /s);
    expect(found([refused], [{ name: 'the error', text: inspect(error, { depth: 9 }) }])).toEqual([]);
  }
});

/** As it is before anything ends, and after the crash of a runner in the middle of its work. */
test('none of it is found anywhere but where it belongs', async () => {
  const all: Canary[] = [
    ...Object.values(inSecrets),
    ...Object.values(sent),
    ...Object.values(stored),
    redisPassword,
    damaged,
    ...canaries.own,
  ];
  expect(all.length).toBeGreaterThanOrEqual(25);
  await pollUntil('the records', async () => (await recordedRuns()) > 30, SOON);
  const { gateway = [], runner = [] } = canaries.logs;
  for (const log of [gateway, runner, canaries.harness.trail]) expect(auditTrail(log)).not.toEqual([]);
  expect(gateway.join('\n')).toContain('"windlass.access"');
  const alive = await canaries.sources();
  process.kill(canaries.runner.pid, 'SIGUSR2');
  await pollUntil('the crash', () => !canaries.runner.isRunning(), SOON);
  expect(canaries.logs['errors of the runner']?.join('\n')).toContain('made to crash');
  const sources: Source[] = [
    ...alive,
    ...(await canaries.sources()),
    { name: 'answers', text: answers.join('\n') },
  ];
  const places = new Set(found(all, sources).map((place) => place.replace(/ as .*/, '')));
  // The run store releases recorded runs.
  for (const place of ['input in run store', 'key of an event in run store']) places.delete(place);
  expect([...places].toSorted()).toEqual(['input in workflowruns', 'key of an event in workflowruns']);
}, 60_000);

async function recordedRuns(): Promise<number> {
  const path = `/apis/windlass.dev/v1alpha1/namespaces/${PROJECT}/workflowruns`;
  const { items } = (await canaries.harness.client.raw('GET', path)) as { items: unknown[] };
  return items.length;
}

test('what is planted is found, wherever it is', async () => {
  const { harness, store, logs } = canaries;
  const value = Buffer.from(`x:${planted.text}`).toString('base64');
  await harness.client.create(configMaps, {
    metadata: { namespace: PROJECT, name: 'planted' },
    data: { value },
  });
  await store.command('hset', `wl:{${canaries.uid}}:planted`, 'a', encodeURIComponent(planted.text));
  logs['gateway']?.push(JSON.stringify({ msg: planted.text }));
  harness.log.info({ error: new Error('planted', { cause: { deep: [planted.text] } }) }, 'planted');
  const places = found([planted], await canaries.sources()).map((place) => place.replace(/ as .*/, ''));
  expect(new Set(places)).toEqual(
    new Set(['gateway', 'operator', 'configmaps', 'run store'].map((name) => `planted in ${name}`)),
  );
});
