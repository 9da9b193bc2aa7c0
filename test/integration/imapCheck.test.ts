/** Trying a mail account at a real IMAP server. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkCredential } from '../../nodes/checks.ts';
import { Secret } from '../../nodes/contract/secret.ts';
import { IMAP_PASSWORD, startDovecot, type Dovecot } from '../support/providers/mail/dovecot.ts';
import { localEgress } from '../support/nodes/stepContext.ts';

let server: Dovecot;

beforeAll(async () => {
  server = await startDovecot();
});
afterAll(() => server?.close());

const passwordRef = { name: 'mail', key: 'password' };

function check(password = IMAP_PASSWORD, changes: object = {}) {
  const imap = { host: '127.0.0.1', port: server.port, tls: 'None', username: 'ada', passwordRef } as const;
  const spec = { imap: { ...imap, ...changes } };
  const credential = { name: 'mail', spec, secret: () => new Secret(password) };
  return checkCredential(credential, { egress: localEgress, signal: new AbortController().signal });
}

test('the right password is taken', async () => {
  const message = '127.0.0.1 accepted the login.';
  expect(await check()).toEqual({ works: true, message, account: 'ada' });
});

test('a wrong password is Rejected, and not repeated', async () => {
  const result = await check('wrong-password');
  expect(result).toMatchObject({ works: false, reason: 'Rejected' });
  expect(result.message).not.toContain('wrong-password');
});

test('a server without TLS gets no password in plain text', async () => {
  expect(await check(IMAP_PASSWORD, { tls: 'StartTLS' })).toMatchObject({ reason: 'Unreachable' });
});

test('a server that is away is Unreachable, and taken again when it is back', async () => {
  await server.stop();
  expect(await check()).toMatchObject({ works: false, reason: 'Unreachable' });
  await server.start();
  expect(await check()).toMatchObject({ works: true });
});
