import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serviceAccounts } from '../../../kube/resource.ts';
import { makeCertificates, type SecretFiles } from '../../support/cluster/certificates.ts';
import { OUR_PAGE } from '../../support/console/cookieClient.ts';
import {
  NAMESPACE,
  startGatewayHarness,
  putRoute,
  type GatewayHarness,
} from '../../support/gateway/gatewayHarness.ts';
import { mountSecret, type MountedSecret } from '../../support/cluster/mountedSecret.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { EVENTS, MALFORMED, ODD } from '../../support/gateway/rawRequests.ts';
import { tokenOf } from '../../support/cluster/users.ts';

/**
 * Small, so that a test reaches it; over TLS half of what is set. Those of the internal listener are counted
 * apart.
 */
const CONNECTIONS = 20;
const LIMITS = { headersSeconds: 1, connections: 2 * CONNECTIONS };

let harness: GatewayHarness;
let files: Record<'first' | 'second', SecretFiles>;
let mount: MountedSecret;
let internalMount: MountedSecret;
/** Trusts both authorities, so that a test sees which certificate it is shown. */
let ca: string[];

beforeAll(async () => {
  files = await makeCertificates(['first', 'second'], ['127.0.0.1']);
  ca = [files.first['ca.crt'], files.second['ca.crt']];
  mount = await mountSecret(files.first);
  internalMount = await mountSecret(files.first);
  const env = { PUBLIC_TLS_DIR: mount.path, INTERNAL_TLS_DIR: internalMount.path };
  harness = await startGatewayHarness({ env: { ...env, LIMITS: JSON.stringify(LIMITS) } });
  await putRoute(harness.client, 'orders');
  await pollUntil('the route', async () => (await call()).status === 200, { timeoutMs: 20_000 });
});

afterAll(async () => {
  await harness?.close();
  mount?.remove();
  internalMount?.remove();
});

const portOf = (url: string) => Number(new URL(url).port);

/** A connection to the public listener, or another, once its handshake is done. */
async function open(options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ port: harness.gateway.publicPort, host: '127.0.0.1', ca, ...options });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  return socket;
}

/** Who is named by the certificate that a new connection is shown. */
async function shown(port = harness.gateway.publicPort): Promise<string> {
  const socket = await open({ port });
  const { CN } = socket.getPeerCertificate().subject;
  socket.destroy();
  return String(CN);
}

type Call = {
  agent?: Agent | false;
  path?: string;
  port?: number;
  body?: string;
  headers?: Record<string, string>;
};

/** A POST of JSON, of the webhook unless a path is given; a GET where there is no body. */
async function call({ path, port, agent = false, headers, body }: Call = {}) {
  const sent = path === undefined ? '{}' : body;
  const asking = request({
    host: '127.0.0.1',
    port: port ?? harness.gateway.publicPort,
    ca,
    agent,
    path: path ?? `/webhook/${NAMESPACE}.orders/new`,
    method: sent === undefined ? 'GET' : 'POST',
    headers: { ...(sent !== undefined && { 'content-type': 'application/json' }), ...headers },
  });
  asking.end(sent);
  const [response] = (await once(asking, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, text: await textOf(response) };
}

async function metric(name: string): Promise<number> {
  const answer = await fetch(harness.gateway.metricsURL, { headers: { connection: 'close' } });
  const text = await answer.text();
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length),
  );
}

/** Without the one that asks. */
const openConnections = async () => (await metric('windlass_gateway_connections')) - 1;
const noConnections = () =>
  pollUntil('no connections', async () => (await openConnections()) === 0, { timeoutMs: 10_000 });
const refused = (reason: string) => metric(`windlass_gateway_refused_total{reason="${reason}"}`);

/** All that comes back for these bytes until the gateway closes. */
async function exchange(bytes: string): Promise<string> {
  const socket = await open();
  socket.setEncoding('latin1');
  socket.write(bytes, 'latin1');
  return textOf(socket);
}

const statusesOf = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

test('both listeners accept TLS 1.2 and 1.3, and neither older versions nor plain HTTP', async () => {
  const [outside, inside] = [harness.gateway.publicPort, portOf(harness.gateway.internalURL)];
  expect(await call({ path: '/healthz', port: inside })).toMatchObject({ status: 200 });
  for (const port of [outside, inside]) {
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const socket = await open({ port, minVersion: version, maxVersion: version });
      expect(socket.getProtocol()).toBe(version);
      socket.destroy();
    }
    const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    await expect(open({ port, ...old })).rejects.toMatchObject({ code: expect.stringMatching(/^ERR_SSL_/) });
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow('fetch failed');
  }
});

test('malformed and unusual HTTP gets the same answers over TLS', async () => {
  const cases = [
    ...MALFORMED.map(([what, bytes]) => [what, [400], bytes] as const),
    ...ODD,
    ...EVENTS.map(([what, bytes]) => [what, [200], bytes] as const),
  ];
  const wrong: unknown[] = [];
  for (const [what, answers, bytes] of cases) {
    const found = statusesOf(await exchange(bytes));
    if (found.join() !== answers.join()) wrong.push({ what, found, answers });
  }
  expect(wrong).toEqual([]);
});

test('silent connections time out during and after the handshake, and count until then', async () => {
  await noConnections();
  const before = await refused('tls-handshake');
  const silent = connectPlain(harness.gateway.publicPort, '127.0.0.1');
  const [idle] = await Promise.all([open(), once(silent, 'connect')]);
  idle.write('POST / HTTP/1.1\r\n');
  expect(await openConnections()).toBe(2);
  const ended = Date.now();
  const [answer] = await Promise.all([textOf(idle), once(silent.resume(), 'close')]);
  expect(statusesOf(answer)).toEqual([408]);
  expect(Date.now() - ended).toBeLessThan(10_000);
  expect(await refused('tls-handshake')).toBe(before + 1);
  await noConnections();
});

test('connections with unfinished handshakes are closed first when there are too many', async () => {
  const silent = Array.from({ length: CONNECTIONS + 10 }, () =>
    connectPlain(harness.gateway.publicPort, '127.0.0.1').on('error', () => undefined),
  );
  await Promise.all(silent.map((socket) => once(socket, 'connect')));
  expect(await call()).toMatchObject({ status: 200 });
  expect(await openConnections()).toBeLessThanOrEqual(CONNECTIONS);
  expect(await refused('connection-gave-way')).toBeGreaterThanOrEqual(11);
  for (const socket of silent) socket.destroy();
  await noConnections();
});

test('a browser over TLS gets a secure cookie, unless a proxy reports plain HTTP', async () => {
  await harness.client.create(serviceAccounts, { metadata: { namespace: NAMESPACE, name: 'ada' } });
  const token = await tokenOf(harness.client, NAMESPACE, 'ada');
  const signIn = async (headers: Record<string, string>) => {
    const port = portOf(harness.gateway.internalURL);
    const body = JSON.stringify({ token });
    const signed = await call({ port, path: '/console/session', body, headers: { ...OUR_PAGE, ...headers } });
    return signed.headers['set-cookie']?.join();
  };
  expect(await signIn({})).toMatch(/^__Host-windlass_console=.*; Secure$/);
  expect(await signIn({ 'x-forwarded-proto': 'http' })).toMatch(/^windlass_console=(?!.*; Secure)/);
});

test('new connections use a new certificate, open ones continue, and an invalid one is never used', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 4, ca });
  const keepCalling = new AbortController();
  const statuses = new Set<number | undefined>();
  // Calls that start no run: however many there are, they reach no limit of the workflow.
  const path = `/webhook/${NAMESPACE}.orders/unknown`;
  const calling = Array.from({ length: 4 }, async () => {
    while (!keepCalling.signal.aborted) statuses.add((await call({ agent, path })).status);
  });
  try {
    expect(await shown()).toBe('first');
    await mount.update({ ...files.second, 'tls.key': files.first['tls.key'] });
    const logged = (text: string) => () => harness.gateway.log.some((line) => line.includes(text));
    await pollUntil('the refusal', logged('refused the new TLS certificate'), { timeoutMs: 20_000 });
    expect(await shown()).toBe('first');

    await mount.update(files.second);
    await pollUntil('the new one', async () => (await shown()) === 'second', { timeoutMs: 20_000 });
    await pollUntil('the log line', logged('reloaded the TLS certificate'), { timeoutMs: 30_000 });
    expect(await shown(portOf(harness.gateway.internalURL))).toBe('first');
  } finally {
    keepCalling.abort();
    await Promise.all(calling);
    agent.destroy();
  }
  expect([...statuses]).toEqual([404]);
  const expiry = 'windlass_gateway_tls_certificate_expiry_timestamp_seconds{listener="public"}';
  expect(await metric(expiry)).toBeGreaterThan(Date.now() / 1_000);
});
