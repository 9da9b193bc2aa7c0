import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createManualClock } from '../test/support/time/manualClock.ts';
import { inClusterConnection, kubeconfigConnection } from './config.ts';

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

function writeKubeconfig(user: object): string {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'here', user: 'me' } }],
    clusters: [{ name: 'here', cluster: { server: 'https://[::1]', 'certificate-authority': 'ca.crt' } }],
    users: [{ name: 'me', user }],
  };
  writeFileSync(join(folder, 'kubeconfig'), JSON.stringify(config));
  return join(folder, 'kubeconfig');
}

test('requests with the token of a kubeconfig read no file', async () => {
  const { ca, auth } = await kubeconfigConnection(writeKubeconfig({ token: 'mine' }));
  rmSync(join(folder, 'ca.crt'));
  expect([ca, await auth.token?.()]).toEqual(['certificate', 'mine']);
});

test('a command of a kubeconfig is asked for another token when the last one has expired', async () => {
  const signIn = (token: string): void => {
    const status = { token, expirationTimestamp: '2026-01-01T00:00:00Z' };
    writeFileSync(join(folder, 'credential'), JSON.stringify({ kind: 'ExecCredential', status }));
  };
  signIn('first');
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'cat' };
  const args = [join(folder, 'credential')];
  const { auth } = await kubeconfigConnection(writeKubeconfig({ exec: { ...exec, args } }));
  expect(await auth.token?.()).toBe('first');
  signIn('second');
  expect(await auth.token?.()).toBe('second');
});
