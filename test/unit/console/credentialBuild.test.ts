import { expect, test } from 'vitest';
import { consoleSchemas } from '../../../images/schemas.ts';
import { fieldsOf } from '../../../console/forms/fields.ts';
import { hostsProblem, hostsText, withSuggestedHosts } from '../../../console/credentials/hosts.ts';
import { builtAccount, entriesOf, secretKey, type Entries } from '../../../console/credentials/build.ts';

const { credentials } = consoleSchemas();
const built = (kind: string, entries: Entries) =>
  builtAccount(fieldsOf(credentials[kind] ?? {}, { path: kind }), entries, 'mail-secret');

test.each([
  ['passwordRef', 'password'],
  ['accessKeyIdRef', 'access-key-id'],
  ['apiKeyRef', 'api-key'],
])('the value of %s has the key %s', (field, key) => {
  expect(secretKey(field)).toBe(key);
});

test('a typed secret value goes into the Secret, and the spec references it', () => {
  const fields = { host: ' smtp.example.com ', from: 'a@example.com', username: 'ada', port: 587, tls: '' };
  const entries: Entries = { fields, secrets: { passwordRef: { kind: 'value', value: ' secret ' } } };
  expect(built('smtp', entries)).toEqual({
    account: {
      host: 'smtp.example.com',
      from: 'a@example.com',
      username: 'ada',
      port: 587,
      passwordRef: { name: 'mail-secret', key: 'password' },
    },
    own: { password: ' secret ' },
    replaced: {},
    problems: {},
  });
});

test('several secrets of one credential share one Secret', () => {
  const value = (text: string) => ({ kind: 'value' as const, value: text });
  const secrets = { accessKeyIdRef: value('id'), secretAccessKeyRef: value('key') };
  const { account, own } = built('s3', { fields: { endpoint: 'https://s3', bucket: 'orders' }, secrets });
  expect(own).toEqual({ 'access-key-id': 'id', 'secret-access-key': 'key' });
  expect(account['secretAccessKeyRef']).toEqual({ name: 'mail-secret', key: 'secret-access-key' });
});

test('an existing Secret is only referenced', () => {
  const ref = { name: 'vault', key: 'token ' };
  const { account, own } = built('bot', { fields: {}, secrets: { tokenRef: { kind: 'existing', ref } } });
  expect([account, own]).toEqual([{ tokenRef: { name: 'vault', key: 'token' } }, {}]);
});

test('a missing required value is reported at its field', () => {
  expect(built('imap', { fields: { host: 'h' }, secrets: {} }).problems).toEqual({
    username: 'Username is required.',
    passwordRef: 'Password is required.',
  });
  const header = { kind: 'value' as const, value: 'v' };
  const { problems } = built('http', { fields: { header: {} }, secrets: { 'header.valueRef': header } });
  expect(problems).toEqual({ 'header.name': 'Name is required.' });
});

test('a number out of range is reported at its field', () => {
  const { problems } = built('imap', { fields: { port: 70_000 }, secrets: {} });
  expect(problems['port']).toBe('Enter a number from 1 to 65,535.');
});

test('a part without values is left out', () => {
  const { account } = built('oauth2', {
    fields: { clientID: 'c', imap: { username: ' ' }, scopes: [] },
    secrets: {},
  });
  expect(account).toEqual({ clientID: 'c' });
});

test('an existing credential keeps its references, and a new value replaces the stored one', () => {
  const ref = { name: 'vault', key: 'pw' };
  const entries = entriesOf({ basic: { username: 'ada', passwordRef: ref }, checkURL: 'https://a' });
  expect(entries).toEqual({
    fields: { basic: { username: 'ada' }, checkURL: 'https://a' },
    secrets: { 'basic.passwordRef': { kind: 'stored', ref, value: '' } },
  });
  expect(built('http', entries)).toMatchObject({
    account: { basic: { username: 'ada', passwordRef: ref }, checkURL: 'https://a' },
    replaced: {},
  });
  const secrets = { 'basic.passwordRef': { kind: 'stored' as const, ref, value: 'new' } };
  expect(built('http', { ...entries, secrets })).toMatchObject({
    own: {},
    replaced: { vault: { pw: 'new' } },
  });
});

test('an empty list of hosts stays, because an omitted list may mean those of a preset', () => {
  const given = { preset: 'google', clientID: 'c', allowedHosts: [] };
  expect(built('oauth2', entriesOf(given)).account).toEqual(given);
});

test('the host of the test URL is the suggested allowed host until the user enters another', () => {
  const page = (checkURL: string, allowedHosts?: string[]) => ({
    checkURL,
    ...(allowedHosts && { allowedHosts }),
  });
  const first = withSuggestedHosts('http', {}, page('https://api.example.com'));
  expect(first).toEqual(page('https://api.example.com', ['api.example.com']));
  const next = withSuggestedHosts('http', first, { ...first, checkURL: 'http://api.shop.svc:8080/me' });
  expect(next['allowedHosts']).toEqual(['http://api.shop.svc:8080']);
  const typed = { ...next, allowedHosts: ['a.example'] };
  expect(withSuggestedHosts('http', next, typed)).toBe(typed);
  expect(withSuggestedHosts('http', typed, { ...typed, checkURL: 'https://b' })['allowedHosts']).toEqual([
    'a.example',
  ]);
  expect(withSuggestedHosts('s3', {}, {})).toEqual({});
});

test('the details of a credential list the allowed hosts', () => {
  expect(hostsText({ oauth2: { clientID: 'c' } })).toBe('None. HTTP requests cannot use this credential.');
  expect(hostsText({ oauth2: { preset: 'microsoft', clientID: 'c' } })).toBe('graph.microsoft.com');
});

test.each<[Parameters<typeof hostsProblem>[0], object, RegExp]>([
  ['http', {}, /^Enter at least one host/],
  ['http', { allowedHosts: [] }, /^Enter at least one host/],
  [
    'http',
    { allowedHosts: ['api.example.com', 'https://a/b'] },
    /^"https:\/\/a\/b": an allowed host must not have a path/,
  ],
  ['http', { allowedHosts: ['*', 'http://a:80'] }, /^$/],
  ['oauth2', {}, /^$/],
  ['oauth2', { allowedHosts: ['a b'] }, /^"a b": an allowed host must be a host name/],
])('the hosts of a %s account: %j', (kind, account, problem) => {
  expect(hostsProblem(kind, { ...account }) ?? '').toMatch(problem);
});
