/** Accounts that a person connected are checked. */
import { expect, test } from 'vitest';
import type { CredentialSpec } from '../../../api/credential.ts';
import {
  accessTo,
  check,
  KEY,
  signal,
  WRONG,
  startProvider,
} from '../../../test/support/nodes/credentialCheck.ts';
import { sendJson } from '../../../test/support/network/listen.ts';
import { localEgress } from '../../../test/support/nodes/stepContext.ts';
import { canBeChecked, checkCredential } from '../../checks.ts';

const side = await startProvider();
const oauth2 = (changes: object = {}) => ({
  oauth2: {
    authorizationURL: side.url,
    tokenURL: side.url,
    userinfoURL: `${side.url}/userinfo`,
    clientID: 'shop',
    ...changes,
  },
});

test('an account is tried by asking whose it is, with the access token', async () => {
  side.handle((request, response) =>
    sendJson(response, request.headers.authorization === `Bearer ${KEY}` ? 200 : 401, { sub: '1' }),
  );
  expect(await check(oauth2())).toMatchObject({ works: true });
  expect(await check(oauth2(), { account: 'another-token' })).toMatchObject(WRONG);
  expect(side.seen).toEqual(['GET /userinfo', 'GET /userinfo']);
});

test('it is asked at the very address that the credential names', async () => {
  side.answer(200, { sub: '1' });
  expect(await check(oauth2({ userinfoURL: `${side.url}/o/userinfo/` }))).toMatchObject({ works: true });
  expect(side.seen).toEqual(['GET /o/userinfo/']);
  expect(await check(oauth2({ userinfoURL: 'https://[' }))).toMatchObject(WRONG);
});

test('a token that is good for other things than to name its account works', async () => {
  side.answer(403, {});
  expect(await check(oauth2())).toMatchObject({ works: true });
});

test.each([
  ['whose provider names accounts', oauth2(), true],
  ['whose provider does not', oauth2({ userinfoURL: undefined }), false],
  ['of Google', oauth2({ preset: 'google' }), true],
  ['of Microsoft', oauth2({ preset: 'microsoft' }), false],
  ['of Microsoft that reads mail', oauth2({ preset: 'microsoft', imap: { username: 'ada' } }), true],
])('whether an account %s can be tried', (_what, spec, expected) => {
  expect(canBeChecked(spec as CredentialSpec)).toBe(expected);
});

test('an account that nobody has connected is reported as such', async () => {
  const { StepError } = await import('../../../api/reasons.ts');
  const missing = () => {
    throw new StepError('CredentialMissing', 'there is no token');
  };
  const access = { ...accessTo(oauth2(), {}), secret: missing };
  expect(await checkCredential(access, { egress: localEgress, signal })).toMatchObject({
    works: false,
    reason: 'NotConnected',
  });
});
