import { expect, test } from 'vitest';
import { rootSchema } from './crd.ts';
import { CREDENTIAL } from './kinds.ts';
import { connectionOf } from './provider.ts';

const google = { preset: 'google', clientID: 'client' } as const;
const custom = {
  authorizationURL: 'https://id.example.com/auth',
  tokenURL: 'https://id.example.com/token',
  clientID: 'client',
} as const;
type OAuth2 = Parameters<typeof connectionOf>[0];

test('what was granted to credentials without further hosts is still for the same connection', () => {
  expect(connectionOf(google)).toBe(
    '["https://accounts.google.com/o/oauth2/v2/auth","https://oauth2.googleapis.com/token","https://openidconnect.googleapis.com/v1/userinfo","https://accounts.google.com","client"]',
  );
  expect(connectionOf({ ...custom, revocationURL: 'https://id.example.com/revoke' })).toBe(
    '["https://id.example.com/auth","https://id.example.com/token","","","client","https://id.example.com/revoke"]',
  );
});

type Schema = { type?: string; enum?: string[]; properties?: Record<string, Schema>; items?: Schema };
type Field = { path: string[]; schema: Schema };

function fieldsIn({ properties = {} }: Schema, path: string[] = []): Field[] {
  return Object.entries(properties).flatMap(([name, schema]) =>
    schema.properties && !name.endsWith('Ref')
      ? fieldsIn(schema, [...path, name])
      : [{ path: [...path, name], schema }],
  );
}

const spec = (rootSchema(CREDENTIAL) as Schema).properties?.['spec'];
const fields = fieldsIn(spec?.properties?.['oauth2'] ?? {});

/**
 * Fields that lead the token nowhere else. Add a field only if no request that shows the token depends on it.
 */
const NO_PLACE = ['clientSecretRef', 'clientAuthentication', 'scopes', 'allowedHosts', 'imap.username'];

/** Two specs that differ in this field alone. */
function twoWith({ path, schema }: Field): [OAuth2, OAuth2] {
  const texts = schema.enum ?? ['https://a.example.com', 'https://b.example.com'];
  const values = schema.type === 'integer' ? [993, 994] : texts;
  const base = path[0] === 'preset' ? { clientID: 'client' } : custom;
  const made = values
    .slice(0, 2)
    .map((value) =>
      path.length === 1
        ? { ...base, [path[0]!]: value }
        : { ...base, [path[0]!]: { username: 'ada', [path[1]!]: value } },
    );
  return made as unknown as [OAuth2, OAuth2];
}

test.each(fields.map((field) => [field.path.join('.'), field] as const))(
  'another %s is another connection, unless it leads nowhere else',
  (name, field) => {
    const [a, b] = twoWith(field);
    const isSame = connectionOf(a) === connectionOf(b);
    expect(isSame).toBe(NO_PLACE.includes(name));
  },
);

test('adding or removing a host changes the connection, and the order of fields does not', () => {
  const before = connectionOf(google);
  const moved = connectionOf({ ...google, apiURL: 'https://evil.example' });
  expect(moved).not.toBe(before);
  expect(connectionOf({ ...google, imap: { username: 'ada', host: 'evil.example' } })).not.toBe(before);
  expect(connectionOf({ ...google, imap: { username: 'ada', tls: 'None' } })).not.toBe(before);
  expect(connectionOf({ ...google, imap: { username: 'ada' } })).toBe(before);
  const imap = { username: 'ada', host: 'a.example', port: 993 };
  const turned = { port: 993, host: 'a.example', username: 'ada' };
  expect(connectionOf({ ...google, imap, apiURL: 'https://a.example' })).toBe(
    connectionOf({ apiURL: 'https://a.example', imap: turned, ...google }),
  );
});

test('a field that is added later is part of the connection', () => {
  const later = { ...google, mirrorURL: 'https://evil.example' } as OAuth2;
  expect(connectionOf(later)).not.toBe(connectionOf(google));
});
