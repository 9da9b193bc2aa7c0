/**
 * The run store over TLS, as the chart starts it: its certificate, those who connect, and the program that
 * follows it.
 */
import { stat, writeFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { expiryOfReplacement } from '../../../kube/certificateFiles.ts';
import { startHeartbeats } from '../../../runs/heartbeat.ts';
import { CERTIFICATE_ACCOUNT, GATEWAY_ACCOUNT, OPERATOR_ACCOUNT } from '../../../store/accounts.ts';
import { connectRunStore, type RunStoreConnection } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import { servedCertificateExpiry } from '../../../store/serverCertificate.ts';
import { makeCertificates, type SecretFiles } from '../../support/cluster/certificates.ts';
import { createCollectedLog } from '../../support/logs/collectedLog.ts';
import { runCommand } from '../../support/process/command.ts';
import { freePort } from '../../support/process/freePort.ts';
import { makeFolder, type Folder } from '../../support/process/folder.ts';
import { mountSecret, type MountedSecret } from '../../support/cluster/mountedSecret.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { startProgram, type Program } from '../../support/process/program.ts';
import { startRedis, type TestRedis } from '../../support/runStore/redis.ts';

const scripts = join(import.meta.dirname, '../../../charts/windlass/files/redis');
const password = 'of the operator';
/** How often the program reads a certificate that it refused before it tries it again. */
const READS = '3';
const account = { username: OPERATOR_ACCOUNT, password };

let files: Record<'first' | 'second', SecretFiles>;
/** What Redis has mounted, and what its clients have. */
let server: MountedSecret;
let client: MountedSecret;
/** What the containers of the pod share. */
let pod: Folder;
let redis: TestRedis;
let follower: Program;
const open: RunStoreConnection[] = [];

beforeAll(async () => {
  files = await makeCertificates(['first', 'second'], ['127.0.0.1']);
  server = await mountSecret(files.first);
  client = await mountSecret({ 'ca.crt': files.first['ca.crt'] });
  pod = await makeFolder('pod');
  const list = join(pod.path, 'users.acl');
  await writeFile(join(pod.path, 'operator-password'), password);
  await writeFile(join(pod.path, 'gateway-password'), 'of the gateway');
  const accounts = join(scripts, 'accounts.acl');
  await runCommand('sh', [join(scripts, 'accounts.sh'), list, accounts, pod.path, pod.path]);
  const tls = { certificate: server.path, socket: join(pod.path, 'redis.sock') };
  redis = await startRedis({ acl: await readFile(list, 'utf8'), tls });
  const program = join(scripts, 'certificate.sh');
  const args = [server.path, join(server.path, 'ca.crt'), pod.path, String(await freePort()), READS];
  follower = startProgram('operator', {}, { program, args, obeysModes: true });
});

afterEach(() => Promise.all(open.splice(0).map((conn) => conn.close())));

afterAll(async () => {
  await follower?.stop();
  await redis?.stop();
  for (const folder of [server, client, pod]) folder?.remove();
});

function connectWith(trust: { caFile?: string; url?: string }, log = createCollectedLog()) {
  const conn = connectRunStore({ url: redis.url, name: 'test', ...account, log, ...trust });
  open.push(conn);
  return { conn, log };
}

const trusted = () => ({ caFile: join(client.path, 'ca.crt') });
const within = (seconds: number) => AbortSignal.timeout(seconds * 1_000);
const logged = (text: string) => follower.log.some((line) => line.includes(text));

/** Whether somebody who trusts this authority alone is let in. */
async function isTrustedWith(name: 'first' | 'second'): Promise<boolean> {
  const folder = await mountSecret({ 'ca.crt': files[name]['ca.crt'] });
  const expiry = await servedCertificateExpiry({ url: redis.url, caFile: join(folder.path, 'ca.crt') });
  folder.remove();
  return expiry !== undefined;
}

test('commands, subscriptions and the thread that beats go over TLS, and there is no way without', async () => {
  const { conn } = connectWith(trusted());
  await conn.ready(within(10));
  expect(await conn.command('ping')).toBe('PONG');
  const heard = new Promise((resolve) => {
    void conn.subscriber().subscribe('wl:test', (message) => message !== undefined && resolve(message));
  });
  const publish = () => conn.command('publish', 'wl:test', 'over TLS');
  await pollUntil('a subscriber', async () => (await publish()) === 1, { timeoutMs: 30_000 });
  expect(await heard).toBe('over TLS');

  const beats = startHeartbeats({
    url: redis.url,
    ...account,
    ...trusted(),
    project: 'p',
    runner: 'r',
    everyMs: 20,
  });
  await pollUntil('a beat', async () => (await conn.command('hget', keysOf('p').heartbeats, 'r')) !== null, {
    timeoutMs: 10_000,
  });
  await beats.stop();

  const { conn: plain } = connectWith({ url: redis.url.replace('rediss:', 'redis:') });
  await expect(plain.ready(within(1))).rejects.toThrow('not reached');
});

test.each([
  ['another authority', 'second', {}],
  ['public authorities alone', undefined, {}],
  ['the right one, at a name that is not in the certificate', 'first', { host: 'localhost' }],
] as const)(
  'a client that trusts %s connects to nobody, and says so once',
  async (_what, name, { ...at }) => {
    const folder = name && (await mountSecret({ 'ca.crt': files[name]['ca.crt'] }));
    const url = 'host' in at ? redis.url.replace('127.0.0.1', at.host) : redis.url;
    const { conn, log } = connectWith({ url, ...(folder && { caFile: join(folder.path, 'ca.crt') }) });
    const attempts = () => log.messages('debug').length >= 3;
    await pollUntil('some attempts', attempts, { timeoutMs: 10_000, everyMs: 20 });
    expect(conn.healthy()).toBe(false);
    const told = log.entries.filter(({ level }) => level === 'error');
    expect(told).toHaveLength(1);
    expect(told[0]?.message).toBe('run store: refused its certificate; see docs/security.md#tls');
    folder?.remove();
  },
);

test('a file without a certificate is told, and trusts nobody', async () => {
  const broken = await mountSecret({ 'ca.crt': 'of paper' });
  const { conn, log } = connectWith({ caFile: join(broken.path, 'ca.crt') });
  const told = () => log.messages('error').length >= 2;
  await pollUntil('both', told, { timeoutMs: 10_000, everyMs: 20 });
  expect(log.messages('error')).toEqual(
    expect.arrayContaining([
      'run store: unusable authority file',
      'run store: refused its certificate; see docs/security.md#tls',
    ]),
  );
  expect(conn.healthy()).toBe(false);
  broken.remove();
});

/** When the program wrote a file of the folder that it shares with Redis. */
const writtenAt = async (name: string) => (await stat(join(pod.path, name))).mtimeMs;

/** Waits until the program has read the mounted files so often. */
async function reads(count: number): Promise<void> {
  for (let seen = 0; seen < count; seen += 1) {
    const before = await writtenAt('tls.crt');
    await pollUntil('a read', async () => (await writtenAt('tls.crt')) !== before, { timeoutMs: 20_000 });
  }
}

test('a certificate of another authority takes the place of the first while connections are open, and a broken one does not', async () => {
  await pollUntil('the first to be loaded', () => logged('reloaded the TLS certificate'), {
    timeoutMs: 20_000,
  });
  const { conn } = connectWith(trusted());
  await conn.ready(within(10));
  const refusal = (text: string) =>
    follower.log.some((line) => line.includes('refused the new TLS certificate') && line.includes(text));
  await server.update({ ...files.second, 'tls.key': files.first['tls.key'] });
  await pollUntil('the refusal', () => refusal('cannot be used'), { timeoutMs: 20_000 });
  expect(await isTrustedWith('first')).toBe(true);
  // It is not tried at each read, but after some of them.
  const triedAt = await writtenAt('try.log');
  await reads(2);
  expect(await writtenAt('try.log')).toBe(triedAt);
  await pollUntil('another try', async () => (await writtenAt('try.log')) !== triedAt, { timeoutMs: 20_000 });
  // As one that has expired: clients refuse it.
  await server.update({ ...files.second, 'ca.crt': files.first['ca.crt'] });
  await pollUntil('the refusal', () => refusal('clients would refuse it'), { timeoutMs: 20_000 });
  expect(await isTrustedWith('first')).toBe(true);
  expect(follower.log.map((line) => (JSON.parse(line) as { level: string }).level)).toEqual([
    'info',
    'error',
    'error',
  ]);

  await server.update(files.second);
  await pollUntil('the second', () => isTrustedWith('second'), { timeoutMs: 20_000 });
  expect(await isTrustedWith('first')).toBe(false);
  expect(await conn.command('ping')).toBe('PONG');

  // Whoever is cut off comes back when its own file has changed, without a restart.
  await redis.restart();
  await pollUntil('its loss', () => !conn.healthy(), { timeoutMs: 30_000 });
  await client.update({ 'ca.crt': files.second['ca.crt'] });
  await conn.ready(within(10));
  const expiry = await servedCertificateExpiry({ url: redis.url, ...trusted() });
  expect(expiry?.getTime()).toBeGreaterThan(Date.now());
});

test('a certificate that has expired, or is not valid yet, takes the place of no other one', () => {
  const certificate = { cert: files.second['tls.crt'], key: files.second['tls.key'] };
  const at = (time: string) => () => expiryOfReplacement(certificate, new Date(time));
  expect(at('2000-01-01T00:00:00Z')).toThrow(/valid from \S+Z only/);
  expect(at('2999-01-01T00:00:00Z')).toThrow(/expired at \S+Z/);
  expect(expiryOfReplacement(certificate).getTime()).toBeGreaterThan(Date.now());
});

test('the program that follows the certificate may do that and nothing else', async () => {
  const own = await readFile(join(pod.path, 'certificate-password'), 'utf8');
  const cli = (user: string, secret: string, ...args: string[]) =>
    runCommand('redis-cli', ['-s', join(pod.path, 'redis.sock'), '--user', user, ...args], {
      env: { ...process.env, REDISCLI_AUTH: secret },
    });
  const set = ['config', 'set', 'tls-cert-file', join(server.path, 'tls.crt')];
  expect(await cli(CERTIFICATE_ACCOUNT, own, ...set)).toBe('OK\n');
  for (const command of [
    ['get', 'wl:x'],
    ['config', 'get', '*'],
    ['acl', 'list'],
    ['publish', 'wl:x', 'y'],
  ])
    expect(await cli(CERTIFICATE_ACCOUNT, own, ...command)).toMatch(/^NOPERM/);
  expect(await cli(GATEWAY_ACCOUNT, 'of the gateway', ...set)).toMatch(/^NOPERM/);
});
