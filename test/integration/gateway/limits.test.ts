import { createHmac } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { advance } from '../../../runs/advance.ts';
import { claimRuns } from '../../../runs/claim.ts';
import { isUnavailable } from '../../../store/connection.ts';
import { readCounts } from '../../../runs/read.ts';
import {
  NAMESPACE,
  startGatewayHarness,
  PROJECT,
  putGithubKey,
  putRoute,
  workflowUid,
  type GatewayHarness,
} from '../../support/gateway/gatewayHarness.ts';
import { startGateway, type GatewayProcess } from '../../support/gateway/gatewayProcess.ts';
import {
  attack,
  dripping,
  flooding,
  memoryOf,
  type Attack,
  type AttackOptions,
} from '../../support/gateway/hostileClients.ts';
import { pollUntil } from '../../support/time/poll.ts';

let harness: GatewayHarness;
/** Another replica, with limits that are soon reached. */
let small: GatewayProcess;
/** One more, which has no trusted proxies: its peer is the client. */
let patient: GatewayProcess;
const attacks: Attack[] = [];

const SMALL = {
  connections: 40,
  connectionsPerAddress: 30,
  requestsPerConnection: 3,
  waiting: 8,
  perRoute: { requestsPerSecond: 1, burst: 5 },
  perProject: { requestsPerSecond: 1, burst: 8 },
  perAddress: { requestsPerSecond: 1, burst: 10 },
};

beforeAll(async () => {
  // The heap that the chart gives it.
  harness = await startGatewayHarness({ nodeArgs: ['--max-old-space-size=256'] });
  const own = { requestsPerSecond: 1, burst: 1 };
  await Promise.all([
    putRoute(harness.client, 'orders'),
    putRoute(harness.client, 'asking', { webhook: { reply: true } }),
    putRoute(harness.client, 'rare', { webhook: { rateLimit: own } }),
  ]);
  small = await startGateway({
    kubeconfigPath: harness.api.kubeconfigPath,
    redisURL: harness.redis.url,
    pod: 'gateway-small',
    namespace: NAMESPACE,
    env: { LIMITS: JSON.stringify(SMALL), TRUSTED_PROXIES: '127.0.0.0/8', CLOSE_SECONDS: '0' },
  });
  patient = await startPatient();
  await pollUntil('the routes', async () => (await fetch(harness.hook('rare'))).status === 405, {
    timeoutMs: 20_000,
  });
});

afterEach(() => attacks.splice(0).forEach(({ stop }) => stop()));

afterAll(async () => {
  await small?.stop();
  await patient?.stop();
  await harness?.close();
});

function begin(options: Parameters<typeof attack>[0]): Attack {
  const one = attack(options);
  attacks.push(one);
  return one;
}

const JSON_TYPE = { 'content-type': 'application/json' };

function post(url: string, headers: Record<string, string> = {}, body = '{}'): Promise<Response> {
  return fetch(url, { method: 'POST', body, headers: { ...JSON_TYPE, ...headers } });
}

/** The webhook at the small one. The client is who the proxy, which is us, says it is. */
function call(workflow: string, client: string): Promise<Response> {
  const url = `${small.publicURL}/webhook/${NAMESPACE}.${workflow}/new`;
  return post(url, { 'x-forwarded-for': `198.51.100.9, ${client}` });
}

async function codeOf(answer: Response): Promise<string> {
  const wait = Number(answer.headers.get('retry-after') ?? 0);
  expect(wait > 0).toBe(answer.status === 429 || answer.status === 503);
  const { type = 'accepted' } = (await answer.json()) as { type?: string };
  return `${answer.status} ${type.split('/').at(-1)}`;
}

async function refused(gateway: GatewayProcess, reason: string): Promise<number> {
  const text = await (await fetch(gateway.metricsURL)).text();
  return Number(
    new RegExp(`^windlass_gateway_refused_total\\{reason="${reason}"\\} (\\d+)$`, 'm').exec(text)?.[1],
  );
}

/** Events that an honest client sends, one after the other; all must be accepted. */
async function serve(url: string, events: number): Promise<void> {
  for (let event = 0; event < events; event += 1) {
    const answer = await post(url, { connection: 'close' });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringMatching(/^\{"run":/)]);
  }
}

const HEAD = `POST /webhook/${NAMESPACE}.orders/new HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;

test('300 connections at a byte a second exclude no other client, and use little memory', async () => {
  const { port, before } = { port: harness.gateway.publicPort, before: await memoryOf(harness.gateway.pid) };
  const headers = begin({ port, connections: 150, behave: dripping(HEAD) });
  const bodies = begin({
    port,
    connections: 150,
    behave: (socket, send) => {
      send(Buffer.from(`${HEAD}Content-Length: 1000\r\n\r\n`));
      dripping('[1,1')(socket, send);
    },
  });
  await pollUntil('the connections', () => headers.open() + bodies.open() === 300, { timeoutMs: 20_000 });
  await serve(harness.hook('orders'), 50);
  await pollUntil('the slow ones being ended', () => headers.ended() >= 150 && bodies.ended() >= 150, {
    timeoutMs: 15_000,
  });
  expect((await memoryOf(harness.gateway.pid)).nowMiB - before.nowMiB).toBeLessThan(100);
  expect(await refused(harness.gateway, 'time')).toBeGreaterThanOrEqual(300);
});

test('300 bodies that are too large exclude no other client, and are never buffered', async () => {
  const { port, before } = { port: harness.gateway.publicPort, before: await memoryOf(harness.gateway.pid) };
  const piece = Buffer.alloc(65_536, ' ');
  const chunk = Buffer.concat([Buffer.from('10000\r\n'), piece, Buffer.from('\r\n')]);
  const ones = Buffer.from('1\r\n1\r\n'.repeat(1_000));
  const kinds: [connections: number, head: string, piece: Buffer][] = [
    [100, 'Transfer-Encoding: chunked\r\n\r\n', chunk],
    [10, 'Transfer-Encoding: chunked\r\n\r\n', ones],
    [90, 'Content-Length: 1073741824\r\n\r\n', piece],
    [100, 'Content-Length: 500000\r\n\r\n', piece],
  ];
  const floods = kinds.map(([connections, head, of]) =>
    begin({ port, connections, behave: flooding(HEAD + head, of, 2 ** 20) }),
  );
  await serve(harness.hook('orders'), 50);
  await pollUntil('bodies being refused', () => floods.every((flood) => flood.ended() >= 10), {
    timeoutMs: 20_000,
  });
  // More was sent than is ever taken, and was not collected yet.
  expect(floods.reduce((sum, flood) => sum + flood.sent(), 0)).toBeGreaterThan(280 * 2 ** 20);
  expect((await memoryOf(harness.gateway.pid)).nowMiB - before.nowMiB).toBeLessThan(240);
  floods.forEach(({ stop }) => stop());
  await pollUntil(
    'everything being released',
    async () =>
      /^windlass_gateway_in_flight_bytes 0$/m.test(await (await fetch(harness.gateway.metricsURL)).text()),
    { timeoutMs: 20_000 },
  );
});

test('at the limit of connections an idle one is closed, and one with a request in progress is not', async () => {
  const idle = begin({ port: small.publicPort, connections: 60, againMs: 100, behave: () => undefined });
  await pollUntil('idle ones giving way', () => idle.ended() > 20, { timeoutMs: 20_000 });
  expect(await codeOf(await call('orders', '192.0.2.100'))).toBe('200 accepted');
  idle.stop();
  expect(await refused(small, 'connection-gave-way')).toBeGreaterThan(0);
});

test('a connection beyond the limit of its address gets 503', async () => {
  let clients = 0;
  const wait = (): Buffer => {
    clients += 1;
    const from = `X-Forwarded-For: 192.0.2.${clients}\r\n`;
    return Buffer.from(`${HEAD.replace('orders', 'asking')}${from}Content-Length: 2\r\n\r\n{}`);
  };
  const port = patient.publicPort;
  const all = PATIENT.connectionsPerAddress;
  begin({ port, connections: all, behave: (_socket, send) => send(wait()) });
  await pollUntil('all of them waiting', async () => (await waiters(patient)) === all, { timeoutMs: 20_000 });
  const text = await banner(port);
  expect(text).toMatch(/^HTTP\/1\.1 503 [^]*\r\nretry-after: 1\r\n[^]*problem\/too-many-connections/i);
  expect(await waiters(patient)).toBe(all);
});

async function waiters({ metricsURL }: GatewayProcess): Promise<number> {
  const text = await (await fetch(metricsURL)).text();
  return Number(/^windlass_gateway_waiters (\d+)$/m.exec(text)?.[1]);
}

test('half of the waiting callers may be of one project, and nothing of the next one is accepted', async () => {
  const half = SMALL.waiting / 2;
  const asking = Array.from({ length: half }, (_, caller) => call('asking', `192.0.2.${caller + 1}`));
  await pollUntil('all of them waiting', async () => (await waiters(small)) === half, { timeoutMs: 20_000 });
  const runs = await activeRuns('asking');
  expect(await codeOf(await call('asking', '192.0.2.101'))).toBe('503 too-many-waiting');
  expect(await activeRuns('asking')).toBe(runs);
  expect(await codeOf(await call('orders', '192.0.2.101'))).toBe('200 accepted');
  await endRuns(half);
  expect(await Promise.all(asking.map(async (answer) => codeOf(await answer)))).toEqual(
    Array(half).fill('200 accepted'),
  );
});

async function activeRuns(workflow: string): Promise<number> {
  const counts = await readCounts(harness.runs, PROJECT, workflowUid(workflow));
  if (isUnavailable(counts)) throw new Error('the run store does not answer');
  return counts.active;
}

/** Plays the runner, until so many runs of `asking` have ended. */
async function endRuns(count: number): Promise<void> {
  let ended = 0;
  while (ended < count) {
    const claimed = await claimRuns(harness.runs, { project: PROJECT, runner: 'test', max: 100 });
    for (const { state, token } of claimed.outcome === 'claimed' ? claimed.claims : []) {
      const ref = { project: PROJECT, run: state.run, token };
      await advance(harness.runs, ref, { end: { phase: 'Succeeded' } });
      ended += state.workflow === 'asking' ? 1 : 0;
    }
  }
}

test('pipelined requests are bounded, and abandoned with their connection', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const one = `${HEAD.replace('orders', 'asking')}Content-Length: 2\r\n\r\n{}`;
  const behave: AttackOptions['behave'] = (socket, send) => {
    send(Buffer.from(one.repeat(100)));
    socket.on('close', resolve);
  };
  const pipelining = begin({ port: harness.gateway.publicPort, connections: 1, behave });
  await pollUntil('callers waiting', async () => (await waiters(harness.gateway)) === 16, {
    timeoutMs: 20_000,
  });
  expect(await codeOf(await post(harness.hook('orders')))).toBe('200 accepted');
  expect(await waiters(harness.gateway)).toBe(16);
  pipelining.stop();
  await promise;
  await pollUntil('nobody waiting any more', async () => (await waiters(harness.gateway)) === 0, {
    timeoutMs: 20_000,
  });
});

test('while incomplete bodies use the memory, large bodies are refused and small ones accepted', async () => {
  const head = `${HEAD}Content-Length: 400000\r\n\r\n`;
  const behave: AttackOptions['behave'] = (_socket, send) => send(Buffer.from(head + ' '.repeat(350_000)));
  // Where both grow in the same moment, one may find no room and comes again.
  const stalled = begin({ port: patient.publicPort, connections: 2, againMs: 100, behave });
  await pollUntil('them being buffered', async () => (await bufferedBytes(patient)) > 600_000, {
    timeoutMs: 20_000,
  });
  const url = `${patient.publicURL}/webhook/${NAMESPACE}.orders/new`;
  expect(await codeOf(await post(url, {}, `"${'x'.repeat(500_000)}"`))).toBe('503 overloaded');
  expect(await codeOf(await post(url))).toBe('200 accepted');
  stalled.stop();
  await pollUntil('all of it being released', async () => (await bufferedBytes(patient)) === 0, {
    timeoutMs: 20_000,
  });
  expect(await codeOf(await post(url, {}, `"${'x'.repeat(500_000)}"`))).toBe('200 accepted');
});

async function bufferedBytes({ metricsURL }: GatewayProcess): Promise<number> {
  const text = await (await fetch(metricsURL)).text();
  return Number(/^windlass_gateway_in_flight_bytes (\d+)$/m.exec(text)?.[1]);
}

test('an idle connection is kept as long as configured', async () => {
  const answered = performance.now();
  const text = await new Promise<string>((resolve) => {
    let all = '';
    const socket = connect(patient.publicPort, '127.0.0.1', () =>
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
    );
    socket.setEncoding('latin1').on('data', (part: string) => {
      all += part;
    });
    socket.on('close', () => resolve(all));
  });
  expect(text.match(/^HTTP/gm)).toHaveLength(1);
  expect(performance.now() - answered).toBeGreaterThanOrEqual(PATIENT.idleSeconds * 1_000);
});

const PATIENT = {
  connections: 20,
  connectionsPerAddress: 12,
  waiting: 100,
  inFlightBytes: 1_048_576,
  idleSeconds: 1,
};

function startPatient(): Promise<GatewayProcess> {
  return startGateway({
    kubeconfigPath: harness.api.kubeconfigPath,
    redisURL: harness.redis.url,
    pod: 'gateway-patient',
    namespace: NAMESPACE,
    env: { LIMITS: JSON.stringify(PATIENT), CLOSE_SECONDS: '0' },
  });
}

/** What a connection is told that says nothing itself. */
function banner(port: number): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1');
    socket.setEncoding('latin1').on('data', (part: string) => {
      text += part;
    });
    socket.setTimeout(10_000, () => socket.destroy());
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
  });
}

test('the last answer of a connection has Connection: close, and no request is lost', async () => {
  const one = `${HEAD.replace('orders/new', 'unknown/new')}X-Forwarded-For: 192.0.2.77\r\nContent-Length: 2\r\n\r\n{}`;
  const text = await new Promise<string>((resolve) => {
    let all = '';
    const socket = connect(small.publicPort, '127.0.0.1', () => socket.write(one));
    socket.setEncoding('latin1').on('data', (part: string) => {
      all += part;
      if (!/connection: close/i.test(all)) socket.write(one);
    });
    socket.on('close', () => resolve(all));
  });
  expect(text.match(/HTTP\/1\.1 404/g)).toHaveLength(SMALL.requestsPerConnection);
  expect(text.match(/^connection: close/gim)).toHaveLength(1);
});

test('a webhook with its own limit uses it', async () => {
  const from = performance.now();
  const codes = await Promise.all(
    Array.from({ length: 10 }, async () => codeOf(await post(harness.hook('rare')))),
  );
  const seconds = (performance.now() - from) / 1_000;
  const taken = codes.filter((code) => code === '200 accepted').length;
  expect(taken).toBeGreaterThan(0);
  expect(taken).toBeLessThanOrEqual(Math.min(9, 1 + seconds));
  expect(codes.filter((code) => code === '429 too-many-requests')).toHaveLength(10 - taken);
  expect(await refused(harness.gateway, 'rate-per-route')).toBe(10 - taken);
  expect(await codeOf(await post(harness.hook('orders')))).toBe('200 accepted');
});

test('a flood of forged calls affects no honest call of a signed webhook or another webhook', async () => {
  const own = { rateLimit: { requestsPerSecond: 1, burst: 30 } };
  const { webhook } = await putGithubKey(harness.client, 'signed', 'a key');
  await putRoute(harness.client, 'signed', { webhook: { ...webhook, ...own } });
  const call = (key: string, body: string) => {
    const signature = createHmac('sha256', key).update(body).digest('hex');
    return post(harness.hook('signed'), { 'x-hub-signature-256': `sha256=${signature}` }, body);
  };
  await pollUntil('the key', async () => (await call('no key', '{}')).status === 401, { timeoutMs: 20_000 });
  const forged = { count: 0, codes: new Set<string>(), isOver: false };
  const floods = Array.from({ length: 10 }, async () => {
    for (; !forged.isOver; forged.count += 1) forged.codes.add(await codeOf(await call('no key', '{}')));
  });
  const honest: number[] = [];
  for (let event = 0; event < 25; event += 1) honest.push((await call('a key', `{"event":${event}}`)).status);
  await serve(harness.hook('orders'), 5);
  forged.isOver = true;
  await Promise.all(floods);
  expect(honest).toEqual(Array.from({ length: 25 }, () => 200));
  expect([forged.codes, forged.count > 60]).toEqual([new Set(['401 unverified']), true]);
});

test('an address above its rate is refused at every route, and other addresses are not', async () => {
  const codes: string[] = [];
  while (codes.length < 50 && !codes.includes('429 too-many-requests'))
    codes.push(await codeOf(await call('unknown', '203.0.113.1')));
  expect(codes.slice(0, 10)).toEqual(Array(10).fill('404 not-found'));
  expect(codes.at(-1)).toBe('429 too-many-requests');
  expect(await codeOf(await call('unknown', '203.0.113.2'))).toBe('404 not-found');
});
