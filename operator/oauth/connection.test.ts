import { expect, test } from 'vitest';
import type { Grant } from './grant.ts';
import { connectionOfFacts } from './connection.ts';

const HOUR = 3_600_000;
const GRANT: Grant = {
  connection: 'c',
  accessToken: 'a',
  refreshToken: 'r',
  obtainedAt: 0,
  expiresAt: HOUR,
  scopes: ['mail'],
};
const { refreshToken: _token, ...LAST } = GRANT;

function finding(grant: Grant | undefined, at: number, problem?: string, missing: string[] = []) {
  const credential = {
    apiVersion: 'windlass.dev/v1alpha1' as const,
    kind: 'Credential' as const,
    metadata: { name: 'mailbox', namespace: 'shop' },
    spec: { oauth2: { clientID: 'a' } },
  };
  const facts = { credential, grant, scopes: [], missing, problem, gatewayURL: 'http://gateway' };
  return connectionOfFacts({ ...facts, now: new Date(at) });
}

const AWAY = 'it could not be renewed: example.com: no response within 10 s';

test.each<[string, string, RegExp, ReturnType<typeof finding>]>([
  ['nobody has connected', 'NotConnected', /^Not connected\. .*POST to http/, finding(undefined, 0)],
  ['is connected', 'Connected', /^Connected\.$/, finding(GRANT, 0)],
  ['could not be renewed', 'Connected', /^Connected, but it could not/, finding(GRANT, 0.7 * HOUR, AWAY)],
  [
    'could not be renewed for long',
    'Expiring',
    /until .*, but it could not/,
    finding(GRANT, 0.9 * HOUR, AWAY),
  ],
  ['nothing can renew', 'Expiring', /until .*no refresh token.*POST to http/, finding(LAST, 0.8 * HOUR)],
  ['has expired', 'Expired', /^The access has expired \(it could not/, finding(GRANT, HOUR, AWAY)],
  ['was revoked', 'NotConnected', /^The provider revoked/, finding({ ...GRANT, accessToken: '' }, 0)],
  ['lacks a right', 'MissingScope', /need more scopes: send/, finding(GRANT, 0, undefined, ['send'])],
])('the condition of an account that %s has the reason %s', (_what, reason, message, connection) => {
  expect(connection.finding).toMatchObject({ reason, message: expect.stringMatching(message) as string });
});

test('granted scopes are cut to what the status can hold', () => {
  const scopes = ['a'.repeat(513), 'b'.repeat(512), ...Array.from({ length: 100 }, (_, at) => `s${at}`)];
  const { grantedScopes = [] } = finding({ ...GRANT, scopes }, 0).shown;
  expect([grantedScopes.length, grantedScopes[0]?.length]).toEqual([64, 512]);
});
