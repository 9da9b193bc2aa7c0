import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createManualClock } from '../test/support/time/manualClock.ts';
import { inClusterConnection } from './config.ts';

let folder: string;
const env = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'service-account-'));
  writeFileSync(join(folder, 'token'), 'first\n');
  writeFileSync(join(folder, 'ca.crt'), 'certificate');
  writeFileSync(join(folder, 'namespace'), 'shop');
});

afterEach(() => rmSync(folder, { recursive: true }));

test('a pod finds its server, authority and namespace', () => {
  expect(inClusterConnection(env, folder)).toMatchObject({
    server: 'https://10.96.0.1:443',
    ca: 'certificate',
    namespace: 'shop',
  });
});

test('an IPv6 address is put in brackets', () => {
  const server = inClusterConnection({ ...env, KUBERNETES_SERVICE_HOST: 'fd00::1' }, folder).server;
  expect(server).toBe('https://[fd00::1]:443');
});

test('a renewed token is used after a minute at the latest, and one that vanished is kept', async () => {
  const clock = createManualClock();
  const { token } = inClusterConnection(env, folder, clock).auth;
  writeFileSync(join(folder, 'token'), 'second');
  expect(await token?.()).toBe('first');
  await clock.advance(60_000);
  expect(await token?.()).toBe('second');
  rmSync(join(folder, 'token'));
  await clock.advance(60_000);
  expect(await token?.()).toBe('second');
});

test('outside a pod, and without a mounted service account, the error says so', () => {
  expect(() => inClusterConnection({}, folder)).toThrow('Not in a pod');
  expect(() => inClusterConnection(env, join(folder, 'none'))).toThrow(
    'does the pod mount its service account?',
  );
});
