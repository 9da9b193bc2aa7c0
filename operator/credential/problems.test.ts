import { expect, test } from 'vitest';
import type { Credential } from '../../api/kinds.ts';
import type { ConditionStatus } from '../../kube/resource.ts';
import { credentialProblems } from './problems.ts';

const ref = { node: 'mail', name: 'smtp', kinds: ['smtp'] as const };

function credential(ready?: { status: ConditionStatus; observedGeneration: number }): Credential {
  const condition = {
    type: 'Ready',
    reason: 'SecretMissing',
    message: 'no Secret',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  return {
    apiVersion: 'windlass.dev/v1alpha1',
    kind: 'Credential',
    metadata: { name: 'smtp', namespace: 'shop', generation: 2 },
    spec: { smtp: { host: 'mail.example.com', from: 'shop@example.com' } },
    ...(ready && { status: { conditions: [{ ...condition, ...ready }] } }),
  };
}

const cases: [
  sentence: string,
  found: Credential | undefined,
  kinds: readonly ('smtp' | 'openai')[],
  expected: unknown[],
][] = [
  ['is ready', credential({ status: 'True', observedGeneration: 2 }), ['smtp'], []],
  ['does not exist', undefined, ['smtp'], [{ reason: 'CredentialMissing', isKnown: true }]],
  [
    'is of another kind',
    credential({ status: 'True', observedGeneration: 2 }),
    ['openai'],
    [{ reason: 'WrongCredentialKind', isKnown: true, needsChange: true }],
  ],
  [
    'is not ready',
    credential({ status: 'False', observedGeneration: 2 }),
    ['smtp'],
    [{ reason: 'CredentialNotReady', isKnown: true }],
  ],
  [
    'was ready before it was changed',
    credential({ status: 'True', observedGeneration: 1 }),
    ['smtp'],
    [{ reason: 'CredentialNotReady', isKnown: false }],
  ],
  ['was not checked yet', credential(), ['smtp'], [{ reason: 'CredentialNotReady', isKnown: false }]],
];

test.each(cases)('a credential that %s', (_sentence, found, kinds, expected) => {
  const problems = credentialProblems([{ ...ref, kinds }], () => found);
  expect(problems).toEqual(expected.map((problem) => expect.objectContaining(problem as object)));
  for (const { message } of problems) expect(message).toMatch(/^node mail: Credential smtp /);
});

const READ = 'https://www.googleapis.com/auth/gmail.readonly';

/** An account that has granted these rights; undefined: nobody has connected it. */
function account(grantedScopes: string[] | undefined): Credential {
  const base = credential({ status: 'True', observedGeneration: 2 });
  const oauth2 = { preset: 'google' as const, clientID: 'a' };
  const connectURL = 'http://gateway/credentials/shop.smtp/connect';
  const status = { ...base.status, conditions: base.status?.conditions ?? [], connectURL };
  return { ...base, spec: { oauth2 }, status: { ...status, ...(grantedScopes && { grantedScopes }) } };
}

test.each<[string, string[] | undefined, number]>([
  ['all that the node needs', ['openid', READ], 0],
  ['a right that includes what the node needs', [READ.replace('.readonly', '')], 0],
  ['less than the node needs', ['openid'], 1],
  ['nothing, since nobody has connected it', undefined, 0],
])('of an account that has granted %s', (_sentence, granted, count) => {
  const needing = { ...ref, kinds: ['oauth2'] as const, scopes: { google: [READ] } };
  const problems = credentialProblems([needing], () => account(granted));
  expect(problems).toHaveLength(count);
  for (const { reason, message } of problems)
    expect([reason, message]).toEqual(['MissingScope', expect.stringContaining('POST to http://gateway')]);
});

test.each<[string, object, readonly ('http' | 'oauth2')[], string[]]>([
  ['a custom account without hosts', {}, ['http', 'oauth2'], ['NoAllowedHosts']],
  ['a custom account with hosts', { allowedHosts: ['api.example.com'] }, ['http', 'oauth2'], []],
  ['an account at Google', { preset: 'google' }, ['http', 'oauth2'], []],
  ['a custom account without hosts in a node that chooses no host', {}, ['oauth2'], []],
])('%s', (_sentence, fields, kinds, reasons) => {
  const found = { ...account(undefined), spec: { oauth2: { clientID: 'a', ...fields } } };
  const problems = credentialProblems([{ ...ref, kinds }], () => found);
  expect(problems.map(({ reason }) => reason)).toEqual(reasons);
});

test('an account without hosts is told the entry for the constant host of the node', () => {
  const found = { ...account(undefined), spec: { oauth2: { clientID: 'a' } } };
  const calling = { ...ref, kinds: ['http', 'oauth2'] as const, hostEntry: 'api.example.com' };
  const [problem] = credentialProblems([calling], () => found);
  expect(problem?.message).toContain('add "api.example.com" to its spec.oauth2.allowedHosts');
});
