/** Watches and lists of the Kubernetes API through the gateway, for clients that are slow or gone. */
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubeApiFaults } from '../../support/cluster/kubeApiFaults.ts';
import {
  CORE,
  EDITOR,
  OWN,
  problemOf,
  send,
  startProxiedGateway,
  workflow,
} from '../../support/gateway/kubeCalls.ts';
import {
  startPassThroughHarness,
  type PassThroughHarness,
  type TestGateway,
} from '../../support/gateway/passThroughHarness.ts';
import { pollUntil } from '../../support/time/poll.ts';

const SOON = { timeoutMs: 10_000 };

let harness: PassThroughHarness;
let gateway: TestGateway;
let proxy: KubeApiFaults;
let proxied: TestGateway;
let editor: string;

beforeAll(async () => {
  harness = await startPassThroughHarness('shop');
  gateway = await harness.gateway();
  ({ proxy, proxied } = await startProxiedGateway(harness));
  editor = await harness.user('shop', 'editor', EDITOR);
});
afterAll(async () => {
  await proxy?.stop();
  await harness?.close();
});

test('a watch is streamed, and ended upstream when the client disconnects', async () => {
  await gateway.call(`${OWN}/workflows`, editor, send('POST', workflow('known')));
  const gone = new AbortController();
  // The API server ends the watches of a kind while it still installs the definitions of others.
  const reader = await pollUntil(
    'an event of a watch',
    async () => {
      const answer = await proxied.call(`${OWN}/workflows?watch=true`, editor, { signal: gone.signal });
      const events = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
      return (await events?.read())?.value === undefined ? undefined : events;
    },
    SOON,
  );
  expect(proxy.openWatches()).toBe(1);
  await gateway.call(`${OWN}/workflows`, editor, send('POST', workflow('watched')));
  const { value = '' } = await reader.read();
  expect(JSON.parse(value.split('\n')[0] ?? '')).toMatchObject({
    type: 'ADDED',
    object: { metadata: { name: 'watched' } },
  });
  gone.abort();
  await pollUntil('the end of the watch', () => proxy.openWatches() === 0, SOON);
});

test('a list whose client disconnects, or that never ends, takes no place', async () => {
  const stop = proxy.always(({ path }) => path.endsWith('/credentials'), 'silence');
  const gone = new AbortController();
  const calls = Array.from({ length: 64 }, () =>
    proxied.call(`${OWN}/credentials`, editor, { signal: gone.signal }).catch(() => undefined),
  );
  await pollUntil(
    '64 calls',
    () => proxy.seen.filter(({ path }) => path.endsWith('/credentials')).length === 64,
    SOON,
  );
  const beyond = await proxied.call(`${OWN}/workflows`, editor);
  expect(beyond.headers.get('retry-after')).toBe('1');
  expect(await problemOf(beyond)).toBe('429 too-many-exchanges');
  const other = await harness.user('shop', 'other', EDITOR);
  expect((await proxied.call(`${OWN}/workflows`, other)).status).toBe(200);
  gone.abort();
  await Promise.all(calls);
  await pollUntil('room', async () => (await proxied.call(`${OWN}/workflows`, editor)).status === 200, SOON);
  stop();
});

test('if the API server is unavailable the caller gets 503, and an aborted answer stays incomplete', async () => {
  const unstop = proxy.always(({ path }) => path.endsWith('/workflows'), 'reset');
  const away = await proxied.call(`${OWN}/workflows`, editor);
  expect(away.headers.get('retry-after')).toBe('2');
  expect(await problemOf(away)).toBe('503 cluster-unavailable');
  unstop();
  proxy.script(({ path }) => path.endsWith('/secrets/mail'), {
    lines: [{ kind: 'Secret' }],
    finish: 'reset',
  });
  expect(await problemOf(await proxied.call(`${CORE}/secrets/mail`, editor))).toBe('503 cluster-unavailable');
  proxy.script(({ path }) => path.endsWith('/workflows'), { lines: [{ kind: 'List' }], finish: 'reset' });
  await expect(proxied.call(`${OWN}/workflows`, editor).then((answer) => answer.text())).rejects.toThrow(
    'terminated',
  );
});

test('a slow client gets a large list completely', async () => {
  const spec = { ...workflow('x').spec, description: 'd'.repeat(4_000) };
  const many = Array.from({ length: 60 }, (_, at) => ({ ...workflow(`bulk-${at}`), spec }));
  for (const body of many)
    expect((await gateway.call(`${OWN}/workflows`, editor, send('POST', body))).status).toBe(201);
  const { url } = gateway;
  const text = await new Promise<string>((resolve, reject) => {
    const headers = { authorization: `Bearer ${editor}` };
    request(`${url}${OWN}/workflows`, { headers }, (answer) => {
      let read = '';
      answer.setEncoding('utf8').pause();
      setImmediate(() => answer.on('data', (chunk: string) => (read += chunk)).resume());
      answer.on('end', () => resolve(read)).on('error', reject);
    }).end();
  });
  expect((JSON.parse(text) as { items: unknown[] }).items.length).toBeGreaterThanOrEqual(60);
  // Compressed by the API server, for who takes that.
  const zipped = await gateway.call(`${OWN}/workflows`, editor, { headers: { 'accept-encoding': 'gzip' } });
  expect(zipped.headers.get('content-encoding')).toBe('gzip');
  expect(await zipped.json()).toEqual(JSON.parse(text));
});

test('no request failed unexpectedly', () => {
  expect([...gateway.log.messages('error'), ...proxied.log.messages('error')]).toEqual([]);
});
