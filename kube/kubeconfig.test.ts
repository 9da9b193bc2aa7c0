import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { contextNames, readContext } from './kubeconfig.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, content: unknown): string {
  const file = join(folder, name);
  writeFileSync(file, typeof content === 'string' ? content : stringify(content));
  return file;
}

const config = (more: object = {}) => ({
  'current-context': 'dev',
  contexts: [
    { name: 'dev', context: { cluster: 'local', user: 'me', namespace: 'shop' } },
    { name: 'lost', context: { cluster: 'gone', user: 'me' } },
  ],
  clusters: [{ name: 'local', cluster: { server: 'https://127.0.0.1:6443/' } }],
  users: [{ name: 'me', user: { token: 'abc' } }],
  ...more,
});

test('the current context has server, namespace and token', async () => {
  const { name, connection } = await readContext([write('config', config())]);
  expect({ name, server: connection.server, namespace: connection.namespace }).toEqual({
    name: 'dev',
    server: 'https://127.0.0.1:6443',
    namespace: 'shop',
  });
  expect(await connection.auth.token?.()).toBe('abc');
});

test('certificates are read from data, and from files beside the kubeconfig', async () => {
  write('ca.pem', 'authority');
  const cluster = { server: 'https://a.example', 'certificate-authority': 'ca.pem' };
  const user = { 'client-certificate-data': btoa('certificate'), 'client-key-data': btoa('key') };
  const file = write(
    'config',
    config({ clusters: [{ name: 'local', cluster }], users: [{ name: 'me', user }] }),
  );
  const { connection } = await readContext([file]);
  expect(connection).toMatchObject({ ca: 'authority', auth: { cert: 'certificate', key: 'key' } });
});

test('of several files the first entry of a name counts, and files that do not exist are left out', async () => {
  const first = write('first', {
    clusters: [{ name: 'local', cluster: { server: 'https://first.example' } }],
  });
  const files = [join(folder, 'none'), first, write('second', config())];
  expect((await readContext(files)).connection.server).toBe('https://first.example');
  expect(contextNames(files)).toEqual(['dev', 'lost']);
});

test('a user with exec is signed in by its program', async () => {
  const credential = {
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    status: { token: 'from-a-program' },
  };
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: 'echo',
    args: [JSON.stringify(credential)],
    interactiveMode: 'Never',
  };
  const file = write('config', config({ users: [{ name: 'me', user: { exec } }] }));
  const { connection } = await readContext([file]);
  expect(await connection.auth.token?.()).toBe('from-a-program');
});

describe('a sentence says what is wrong:', () => {
  test.each([
    ['no such context', config(), 'nope', 'has no context "nope": choose one of dev, lost'],
    [
      'no current context',
      config({ 'current-context': '' }),
      undefined,
      'choose one with --context: dev, lost',
    ],
    ['no context at all', {}, undefined, 'there is no cluster to talk to'],
    ['no cluster', config(), 'lost', 'names the cluster "gone", which the kubeconfig does not have'],
    [
      'a proxy',
      config({ clusters: [{ name: 'local', cluster: { server: 'https://a', 'proxy-url': 'http://b' } }] }),
      undefined,
      'has a proxy-url',
    ],
    [
      'a user who acts as another',
      config({ users: [{ name: 'me', user: { token: 'abc', as: 'admin' } }] }),
      undefined,
      'user me of the kubeconfig acts as another user',
    ],
    ['no address', config({ clusters: [{ name: 'local', cluster: {} }] }), undefined, 'has no address'],
    [
      'a missing file',
      config({ users: [{ name: 'me', user: { tokenFile: 'none' } }] }),
      undefined,
      'none, which the kubeconfig names: ENOENT',
    ],
    [
      'a program that does not exist',
      config({ users: [{ name: 'me', user: { exec: { command: '/nowhere/login' } } }] }),
      undefined,
      'cannot sign in to context dev',
    ],
    ['another file', '[1, 2]', undefined, 'is not a kubeconfig'],
    ['broken YAML', '{', undefined, 'is not a kubeconfig'],
  ])('%s', async (_what, content, context, says) => {
    await expect(readContext([write('config', content)], context)).rejects.toThrow(says);
  });
});
