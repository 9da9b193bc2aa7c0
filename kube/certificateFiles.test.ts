import { expect, test } from 'vitest';
import { createCollectedLog } from '../test/support/logs/collectedLog.ts';
import { createManualClock } from '../test/support/time/manualClock.ts';
import { mountSecret } from '../test/support/cluster/mountedSecret.ts';
import {
  createCertificateReload,
  readCertificateFiles,
  repeatReload,
  type ServerCertificate,
} from './certificateFiles.ts';

const expires = new Date('2026-06-01T00:00:00Z');
const pair = (name: string): ServerCertificate => ({ cert: `${name} cert`, key: `${name} key` });

/** A server that shows what it was given last, and takes no certificate with `broken` or `early` in it. */
function createServer(first?: ServerCertificate) {
  const log = createCollectedLog();
  const server = { found: first ?? pair('first'), shown: first?.cert, log };
  const use = ({ cert }: ServerCertificate) => {
    if (cert.startsWith('broken')) throw new Error(`${cert} is no certificate`);
    if (cert.startsWith('early')) return undefined;
    server.shown = cert;
    return expires;
  };
  const read = () => Promise.resolve(server.found);
  return { server, log, reload: createCertificateReload({ read, use, log }, first) };
}

test('a certificate that has not changed is not loaded again', async () => {
  const { log, reload } = createServer(pair('first'));
  await reload();
  await reload();
  expect(log.entries).toEqual([]);
});

test('a certificate that has changed is loaded and logged once, and so is the one before it when it comes back', async () => {
  const { server, log, reload } = createServer(pair('first'));
  for (const name of ['second', 'second', 'first']) {
    server.found = pair(name);
    await reload();
  }
  expect(server.shown).toBe('first cert');
  const entry = { level: 'info', message: 'reloaded the TLS certificate', fields: { expires } };
  expect(log.entries).toEqual([entry, entry]);
});

test('a broken certificate leaves the old one in effect, is logged once, and gives way to a good one', async () => {
  const { server, log, reload } = createServer(pair('first'));
  server.found = pair('broken');
  await reload();
  await reload();
  expect(server.shown).toBe('first cert');
  expect(log.entries).toEqual([
    {
      level: 'error',
      message: 'refused the new TLS certificate',
      fields: { error: 'broken cert is no certificate' },
    },
  ]);
  server.found = pair('second');
  await reload();
  expect(server.shown).toBe('second cert');
});

test('a certificate that cannot be loaded now is loaded later', async () => {
  const { server, log, reload } = createServer();
  server.found = pair('early');
  await reload();
  expect(log.entries).toEqual([]);
  server.found = pair('second');
  await reload();
  expect(log.messages('info')).toEqual(['reloaded the TLS certificate']);
});

test('files are checked every five seconds until the signal is aborted', async () => {
  const clock = createManualClock();
  const end = new AbortController();
  let checks = 0;
  const ended = repeatReload(() => Promise.resolve(void (checks += 1)), { signal: end.signal, clock });
  await clock.advance(10_000);
  expect(checks).toBe(2);
  end.abort();
  await ended;
  expect(clock.timers()).toBe(0);
});

test('certificate and key are of one version of the Secret, also where the kubelet has just replaced it', async () => {
  const files = (name: string) => ({ 'tls.crt': pair(name).cert, 'tls.key': pair(name).key });
  const mount = await mountSecret(files('first'));
  expect(await readCertificateFiles(mount.path)).toEqual(pair('first'));
  await mount.update(files('second'));
  expect(await readCertificateFiles(mount.path)).toEqual(pair('second'));
  mount.remove();
});
