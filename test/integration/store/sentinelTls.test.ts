/** Sentinels and the primary that they name, both over TLS. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectRunStore } from '../../../store/connection.ts';
import { makeCertificates } from '../../support/cluster/certificates.ts';
import { mountSecret, type MountedSecret } from '../../support/cluster/mountedSecret.ts';
import { createCollectedLog } from '../../support/logs/collectedLog.ts';
import { makeFolder, type Folder } from '../../support/process/folder.ts';
import { freePort } from '../../support/process/freePort.ts';
import { startRedis, type TestRedis } from '../../support/runStore/redis.ts';
import { monitorOf, sentinelURL, startSentinel, type TestSentinel } from '../../support/runStore/sentinel.ts';
import { pollUntil } from '../../support/time/poll.ts';

let certificate: MountedSecret;
let other: MountedSecret;
let folder: Folder;
let redis: TestRedis;
let sentinel: TestSentinel;
/** By `rediss+sentinel:`. */
let url: string;
beforeAll(async () => {
  const files = await makeCertificates(['own', 'other'], ['127.0.0.1']);
  certificate = await mountSecret(files.own);
  other = await mountSecret({ 'ca.crt': files.other['ca.crt'] });
  folder = await makeFolder('sentinel-tls');
  const tls = { certificate: certificate.path, socket: join(folder.path, 'redis.sock') };
  const verified = [`tls-ca-cert-file ${join(certificate.path, 'ca.crt')}`, 'tls-replication yes'];
  redis = await startRedis({ tls, config: verified });
  // Its other port has no TLS, by which its start is noticed.
  const port = await freePort();
  sentinel = await startSentinel([
    `tls-port ${port}`,
    `tls-cert-file ${join(certificate.path, 'tls.crt')}`,
    `tls-key-file ${join(certificate.path, 'tls.key')}`,
    'tls-auth-clients no',
    ...verified,
    monitorOf(redis.port),
  ]);
  url = sentinelURL([{ port }], 0).replace('redis+', 'rediss+');
});
afterAll(async () => {
  await sentinel?.stop();
  await redis?.stop();
  for (const each of [certificate, other, folder]) each?.remove();
});

test('a client that trusts the authority reaches sentinels and primary by TLS alone', async () => {
  const conn = connectRunStore({ url, caFile: join(certificate.path, 'ca.crt'), name: 'test' });
  await conn.ready(AbortSignal.timeout(10_000));
  expect(await conn.command('ping')).toBe('PONG');
  await conn.close();
});

test('a client that trusts another authority asks no sentinel', async () => {
  const log = createCollectedLog();
  const conn = connectRunStore({ url, caFile: join(other.path, 'ca.crt'), name: 'test', log });
  const isTold = () => log.entries.find(({ message }) => message === 'run store: no primary found');
  const told = await pollUntil('the line of the log', isTold, { timeoutMs: 10_000 });
  expect(told.fields).toEqual({ problem: 'too few sentinels answer' });
  expect(conn.healthy()).toBe(false);
  await conn.close();
});
