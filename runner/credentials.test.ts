import { expect, test } from 'vitest';
import type { CredentialSpec } from '../api/credential.ts';
import type { Credential } from '../api/kinds.ts';
import { connectionOf } from '../api/provider.ts';
import { TOKENS } from '../api/token.ts';
import type { Change } from '../kube/cache.ts';
import type { KubeObject, ObjectRef, Resource } from '../kube/resource.ts';
import { accessToken } from '../nodes/contract/node.ts';
import { hashOf } from '../store/oauth/states.ts';
import { createCredentials } from './credentials.ts';
import { createSecretReader } from './secrets.ts';

const credential = (keys: object = {}): Credential => ({
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'Credential',
  metadata: { name: 'llm', namespace: 'shop' },
  spec: { openai: { apiKeyRef: { name: 'keys', key: 'api' }, ...keys } },
});

/**
 * A namespace with one credential and its Secret, by any name, a clock that is moved by hand, and a count of
 * what was asked.
 */
function namespace(initial: Record<string, string> | undefined, secretName = 'keys') {
  const cluster = { secret: initial, away: false, reads: 0, now: 0, credential: credential() };
  let onChange: (change: Change<Credential>) => void = () => undefined;
  const client = {
    find: async <T extends KubeObject>(
      _resource: Resource<T>,
      { name }: ObjectRef,
    ): Promise<T | undefined> => {
      cluster.reads += 1;
      if (cluster.away) throw new Error('the API server is away');
      if (!cluster.secret || name !== secretName) return undefined;
      const data = Object.fromEntries(
        Object.entries(cluster.secret).map(([key, value]) => [key, btoa(value)]),
      );
      return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, data } as unknown as T;
    },
  };
  const cache = {
    get: (_namespace: string | undefined, name: string) => (name === 'llm' ? cluster.credential : undefined),
    onChange: (handler: typeof onChange) => {
      onChange = handler;
      return () => undefined;
    },
  };
  const reader = createSecretReader(client, 'shop', { now: () => cluster.now });
  const credentials = createCredentials(cache, reader, 'shop');
  const key = async () => (await credentials.get('llm')).secret({ name: 'keys', key: 'api' }).reveal();
  return { cluster, credentials, key, change: () => onChange({ type: 'added', object: cluster.credential }) };
}

test('a Secret is read once, and again after five minutes', async () => {
  const { cluster, key } = namespace({ api: 'one' });
  expect([await key(), await key()]).toEqual(['one', 'one']);
  expect(cluster.reads).toBe(1);
  cluster.secret = { api: 'two' };
  cluster.now = 299_000;
  expect(await key()).toBe('one');
  cluster.now = 301_000;
  expect(await key()).toBe('two');
});

test('after a change of the credential its Secret is read again', async () => {
  const { cluster, key, change } = namespace({ api: 'one' });
  await key();
  cluster.secret = { api: 'two' };
  change();
  expect(await key()).toBe('two');
});

test('however often a credential changes while its Secret is being read, that is read once more', async () => {
  const { cluster, key, change } = namespace({ api: 'one' });
  const reading = key();
  for (let n = 0; n < 50; n += 1) change();
  cluster.secret = { api: 'two' };
  await reading;
  expect(await key()).toBe('two');
  expect(cluster.reads).toBe(2);
});

test('many steps at the same time read a Secret once', async () => {
  const { cluster, key } = namespace({ api: 'one' });
  await Promise.all(Array.from({ length: 20 }, key));
  expect(cluster.reads).toBe(1);
});

test('a cached Secret stays usable while the API server is unavailable', async () => {
  const { cluster, key, change } = namespace({ api: 'one' });
  await key();
  cluster.away = true;
  change();
  expect(await key()).toBe('one');
  cluster.now = 400_000;
  expect(await key()).toBe('one');
});

test('after a rejected login the Secret is read again and compared', async () => {
  const { cluster, credentials } = namespace({ api: 'one' });
  const used = await credentials.get('llm');
  cluster.now = 10_000;
  expect(await credentials.hasChanged(used)).toBe(false);
  cluster.secret = { api: 'two' };
  cluster.now = 20_000;
  expect(await credentials.hasChanged(used)).toBe(true);
  expect(await credentials.hasChanged(used)).toBe(true);
  expect(await credentials.hasChanged(await credentials.get('llm'))).toBe(false);
});

test('a Secret that changed right after it was read is read again for the first rejected login', async () => {
  const { cluster, credentials } = namespace({ api: 'one' });
  const used = await credentials.get('llm');
  cluster.secret = { api: 'two' };
  expect(await credentials.hasChanged(used)).toBe(true);
});

test('a check reads the current Secrets, which later steps use, too', async () => {
  const { cluster, credentials, key } = namespace({ api: 'one' });
  const reading = key();
  cluster.secret = { api: 'two' };
  const fresh = await credentials.fresh('llm', credential().spec);
  expect(fresh.secret({ name: 'keys', key: 'api' }).reveal()).toBe('two');
  expect(await reading).toBe('two');
  expect(await key()).toBe('two');
});

test('a check whose Secret cannot be read fails, and does not use an earlier value', async () => {
  const { cluster, credentials, key } = namespace({ api: 'one' });
  expect(await key()).toBe('one');
  cluster.away = true;
  await expect(credentials.fresh('llm', credential().spec)).rejects.toMatchObject({
    reason: 'CredentialMissing',
    message: 'cannot read a Secret of the Credential llm now',
  });
  expect(await key()).toBe('one');
});

test('a Secret is read at most every five seconds, however many logins are rejected or reads find nothing', async () => {
  const { cluster, credentials } = namespace({ api: 'one' });
  const used = await credentials.get('llm');
  for (let n = 0; n < 50; n += 1) await credentials.hasChanged(used);
  // Once for the steps, and once for those that were refused.
  expect(cluster.reads).toBe(2);
  cluster.now = 5_000;
  for (let n = 0; n < 50; n += 1) await credentials.hasChanged(used);
  expect(cluster.reads).toBe(3);
  const missing = namespace(undefined);
  for (let n = 0; n < 50; n += 1)
    await expect(missing.key()).rejects.toMatchObject({ reason: 'CredentialMissing' });
  expect(missing.cluster.reads).toBe(1);
  missing.cluster.secret = { api: 'one' };
  missing.cluster.now = 5_000;
  expect(await missing.key()).toBe('one');
});

test.each([
  [
    'a Secret that is not there',
    undefined,
    'the Secret keys of the Credential llm does not exist: create it',
  ],
  ['a key that is not there', { other: 'x' }, 'the Secret keys of the Credential llm has no key api: add it'],
  ['an empty key', { api: '' }, 'the Secret keys of the Credential llm has no key api: add it'],
])('%s is reported with what to do', async (_what, secret, message) => {
  await expect(namespace(secret as Record<string, string> | undefined).key()).rejects.toMatchObject({
    reason: 'CredentialMissing',
    message,
  });
});

test('a missing credential is named', async () => {
  const { credentials } = namespace({});
  await expect(credentials.get('nobody')).rejects.toMatchObject({ reason: 'CredentialMissing' });
});

test('for a connected account only the access token is read, again after a minute, and never the client secret', async () => {
  const asked: string[] = [];
  const clock = { now: 0 };
  const spec = {
    oauth2: { preset: 'google', clientID: 'a', clientSecretRef: { name: 'client', key: 'secret' } },
  } as const;
  const connection = btoa(hashOf(connectionOf(spec.oauth2)));
  const holding = (token: string) => ({ gmail: btoa(token), gmail_connection: connection });
  let data: Record<string, string> = holding('access-1');
  const client = {
    find: async <T extends KubeObject>(
      _resource: Resource<T>,
      { name }: ObjectRef,
    ): Promise<T | undefined> => {
      asked.push(name);
      return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, data } as unknown as T;
    },
  };
  const gmail = { ...credential(), metadata: { name: 'gmail', namespace: 'shop' }, spec };
  const cache = { get: () => gmail, onChange: () => () => undefined };
  const reader = createSecretReader(client, 'shop', { now: () => clock.now });
  const credentials = createCredentials(cache, reader, 'shop');
  const token = async () => accessToken(await credentials.get('gmail')).reveal();
  expect(await token()).toBe('access-1');
  data = holding('access-2');
  clock.now = 61_000;
  expect(await token()).toBe('access-2');
  data = {};
  clock.now = 122_000;
  await expect(token()).rejects.toMatchObject({
    reason: 'CredentialMissing',
    message: expect.stringMatching(/gmail is not connected: kubectl describe/) as string,
  });
  expect(new Set(asked)).toEqual(new Set(['windlass-tokens']));
});

const connected = { preset: 'google', clientID: 'client' } as const;
type OAuth2 = NonNullable<CredentialSpec['oauth2']>;

/**
 * What a step gets of an account whose token was given for `connected`, where the Credential says this by
 * now.
 */
async function usedBy(oauth2: OAuth2, secret: Record<string, string>): Promise<string> {
  const { credentials } = namespace(secret, TOKENS);
  const access = await credentials.fresh('gmail', { oauth2 });
  return accessToken(access).reveal();
}
const live = { gmail: 'access-1', gmail_connection: hashOf(connectionOf(connected)) };

test('a live access token is used for the client and the hosts that it was granted for', async () => {
  expect(await usedBy(connected, live)).toBe('access-1');
  expect(await usedBy({ ...connected, scopes: ['email'] }, live)).toBe('access-1');
});

test.each<[string, object]>([
  ['another apiURL', { apiURL: 'https://evil.example' }],
  ['an IMAP host', { imap: { username: 'ada', host: 'evil.example' } }],
  ['IMAP without TLS', { imap: { username: 'ada', tls: 'None' } }],
  ['IMAP at another port', { imap: { username: 'ada', port: 1 } }],
  ['another client', { clientID: 'other' }],
  ['another preset', { preset: 'microsoft' }],
])(
  'a live access token that the operator has not taken away yet is not used with %s',
  async (_what, change) => {
    const error = {
      reason: 'CredentialMissing',
      message: expect.stringContaining('is not connected') as string,
    };
    await expect(usedBy({ ...connected, ...change }, live)).rejects.toMatchObject(error);
  },
);

test('an access token without a connection is not used', async () => {
  await expect(usedBy(connected, { gmail: 'access-1' })).rejects.toThrow('is not connected');
});
