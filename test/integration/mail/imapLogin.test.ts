/**
 * How mail triggers come into an IMAP account: with TLS of either kind or not at all, by password or by
 * access token.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CredentialSpec } from '../../../api/credential.ts';
import { checkCredential } from '../../../nodes/checks.ts';
import { Secret } from '../../../nodes/contract/secret.ts';
import { runCommand } from '../../support/process/command.ts';
import { IMAP_PASSWORD, startDovecot, type Dovecot } from '../../support/providers/mail/dovecot.ts';
import { makeFolder } from '../../support/process/folder.ts';
import { listen, readBody, sendJson, type Listening } from '../../support/network/listen.ts';
import { pollMail } from '../../support/nodes/polls.ts';
import { localEgress } from '../../support/nodes/stepContext.ts';

let server: Dovecot;
let provider: Listening;
let certificate: string;
const trusted = getCACertificates('default');

beforeAll(async () => {
  const tls = await selfSigned();
  certificate = tls.cert;
  // What a provider says of a token (RFC 7662).
  provider = await listen(async (request, response) => {
    const token = new URLSearchParams(await readBody(request)).get('token');
    sendJson(response, 200, token === 'good-token' ? { active: true, username: 'ada' } : { active: false });
  });
  server = await startDovecot({ tls, tokens: { introspectionURL: `${provider.url}/introspect` } });
});
afterAll(async () => {
  setDefaultCACertificates(trusted);
  await server?.close();
  await provider?.close();
});

async function selfSigned(): Promise<{ key: string; cert: string }> {
  const { path, remove } = await makeFolder('tls');
  const [key, cert] = [join(path, 'key.pem'), join(path, 'cert.pem')];
  const wanted = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  await runCommand('openssl', ['req', '-x509', ...wanted, ...names, '-keyout', key, '-out', cert]);
  const pair = { key: await readFile(key, 'utf8'), cert: await readFile(cert, 'utf8') };
  remove();
  return pair;
}

const byPassword = (tls: 'None' | 'StartTLS' | 'TLS', host = 'localhost'): CredentialSpec => ({
  imap: {
    host,
    port: tls === 'TLS' ? server.tlsPort : server.port,
    tls,
    username: 'ada',
    passwordRef: { name: 'mail', key: 'password' },
  },
});

const byToken = (username = 'ada', { port } = server): CredentialSpec => ({
  oauth2: {
    preset: 'microsoft',
    clientID: 'client',
    imap: { host: 'localhost', port, tls: 'None', username },
  },
});

const poll = (spec: CredentialSpec, secrets: Record<string, string> = { password: IMAP_PASSWORD }) =>
  pollMail(spec, secrets, { cursor: undefined });

const baseline = { events: [], more: false };

test.each([
  ['TLS', 'localhost'],
  ['TLS', '127.0.0.1'],
  ['StartTLS', 'localhost'],
  ['StartTLS', '127.0.0.1'],
] as const)('%s with %s works when its certificate is trusted, and only then', async (tls, host) => {
  setDefaultCACertificates([...trusted]);
  await expect(poll(byPassword(tls, host))).rejects.toMatchObject({
    reason: 'Unreachable',
    message: expect.stringContaining('TLS failed with the mail server'),
  });
  setDefaultCACertificates([...trusted, certificate]);
  expect(await poll(byPassword(tls, host))).toMatchObject(baseline);
});

test('StartTLS is never given up for plain text', async () => {
  const plain = await startDovecot();
  const { imap } = byPassword('StartTLS');
  await expect(poll({ imap: { ...imap!, port: plain.port } })).rejects.toMatchObject({
    reason: 'Unreachable',
  });
  await plain.close();
});

test('a server that has enough connections of the account asks to wait', async () => {
  const busy = await startDovecot({ config: ['mail_max_userip_connections = 1'] });
  const client = await busy.client('ada');
  const { imap } = byPassword('None');
  const polling = poll({ imap: { ...imap!, port: busy.port } });
  await expect(polling).rejects.toMatchObject({
    reason: 'RateLimited',
    message: expect.stringContaining('rate limited'),
  });
  await client.logout();
  expect(await poll({ imap: { ...imap!, port: busy.port } })).toMatchObject(baseline);
  await busy.close();
});

test('a server that speaks no TLS where it should says so', async () => {
  const { imap } = byPassword('TLS');
  await expect(poll({ imap: { ...imap!, port: server.port } })).rejects.toMatchObject({
    reason: 'Unreachable',
  });
});

// The first is what Google and Microsoft speak; of a server that has both the second is used.
test.each(['xoauth2', 'oauthbearer'])(
  'a connected account is read with its access token where the server has %s alone',
  async (mechanism) => {
    const tokens = { introspectionURL: `${provider.url}/introspect` };
    const one = await startDovecot({ tokens, config: [`auth_mechanisms = plain login ${mechanism}`] });
    expect(await poll(byToken('ada', one), { access_token: 'good-token' })).toMatchObject(baseline);
    const refused = poll(byToken('ada', one), { access_token: 'bad-token' });
    await expect(refused).rejects.toMatchObject({ name: 'PollError', reason: 'Rejected' });
    await one.close();
  },
);

test.each([
  ['that the provider does not know', 'ada', 'bad-token'],
  ["of somebody else's account", 'eve', 'good-token'],
])('a token %s is refused, and does not show', async (_what, username, token) => {
  const error: unknown = await poll(byToken(username), { access_token: token }).catch(
    (error: unknown) => error,
  );
  expect(error).toMatchObject({ name: 'PollError', reason: 'Rejected' });
  expect(String(error)).not.toContain(token);
});

test('a connected account that reads mail by IMAP is tried by that login', async () => {
  const tried = (token: string) => {
    const credential = { name: 'mail', spec: byToken(), secret: () => new Secret(token) };
    return checkCredential(credential, { egress: localEgress, signal: new AbortController().signal });
  };
  const message = 'localhost accepted the login.';
  expect(await tried('good-token')).toEqual({ works: true, message, account: 'ada' });
  const refused = await tried('bad-token');
  expect(refused).toMatchObject({ works: false, reason: 'Rejected' });
  expect(refused.message).not.toContain('bad-token');
});
