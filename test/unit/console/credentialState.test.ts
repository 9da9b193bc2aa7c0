import { expect, test } from 'vitest';
import { choiceOf, CHOICES, choicesFor } from '../../../console/credentials/choices.ts';
import { connectingState, connectionMark, webLink } from '../../../console/credentials/connecting.ts';
import { layoutOf } from '../../../console/credentials/layout.ts';
import { nameProblem, suggestedName } from '../../../console/credentials/names.ts';
import { explainRefusal } from '../../../console/credentials/refusal.ts';
import { ApiFailure } from '../../../console/http/failure.ts';
import { consoleSchemas } from '../../../images/schemas.ts';
import { withoutCommand } from '../../../console/credentials/commandText.ts';
import { withoutRequest } from '../../../console/credentials/connectText.ts';
import { credentialState, readyOf } from '../../../console/credentials/state.ts';
import { checkKeys } from '../../../operator/credential/check.ts';
import { credentialProblems } from '../../../operator/credential/problems.ts';
import { connectionOfFacts } from '../../../operator/oauth/connection.ts';
import { isCheckRequested, checkDescription } from '../../../console/credentials/check.ts';
import { usageOf } from '../../../console/credentials/usage.ts';

/** What docs/credentials.md lists. */
test.each([
  ['True', 'Checked', 'good'],
  ['True', 'Complete', 'good'],
  ['True', 'Unused', 'unknown'],
  ['True', 'Connected', 'good'],
  ['True', 'Expiring', 'warning'],
  ['True', 'MissingScope', 'warning'],
  ['Unknown', 'NotChecked', 'unknown'],
  ['Unknown', 'Pending', 'unknown'],
  ['Unknown', 'StoreUnavailable', 'unknown'],
  ['False', 'SecretMissing', 'bad'],
  ['False', 'KeyMissing', 'bad'],
  ['False', 'Rejected', 'bad'],
  ['False', 'Unreachable', 'bad'],
  ['False', 'Expired', 'bad'],
  ['False', 'MissingScope', 'bad'],
  ['False', 'NotConnected', 'bad'],
  ['False', 'Unauthorized', 'bad'],
])('Ready=%s with reason %s has its own label, and advice unless all is well', (status, reason, tone) => {
  const state = credentialState({ status, reason });
  expect(state.tone).toBe(tone);
  expect(state.word).toMatch(/^[A-Z][a-z ]+$/);
  expect(tone === 'good' || state.advice !== undefined).toBe(true);
});

test('no message of the operator asks a user of the console to send a request', () => {
  const at = { namespace: 'shop', name: 'sheets' };
  const credential = {
    apiVersion: 'windlass.dev/v1alpha1' as const,
    kind: 'Credential' as const,
    metadata: at,
    spec: { oauth2: { preset: 'google' as const, clientID: 'a' } },
  };
  const grant = { connection: 'c', accessToken: 'a', obtainedAt: 0, expiresAt: 10, scopes: [] };
  const facts = { credential, scopes: [], problem: undefined, gatewayURL: 'http://gateway' };
  const findings = [
    connectionOfFacts({ ...facts, grant: undefined, missing: [], now: new Date(0) }),
    connectionOfFacts({ ...facts, grant, missing: [], now: new Date(20) }),
    connectionOfFacts({ ...facts, grant, missing: ['mail'], now: new Date(0) }),
  ];
  const lacking = credentialProblems(
    [{ node: 'a', name: 'sheets', kinds: ['oauth2'], scopes: { google: ['mail'] } }],
    () => ({
      ...credential,
      status: { connectURL: 'http://gateway/x/connect', grantedScopes: [], conditions: [] },
    }),
  ).filter(({ reason }) => reason === 'MissingScope');
  const messages = [...findings.map(({ finding }) => finding), ...lacking].map(({ message }) => message);
  expect(messages.map((message) => message.includes('POST to http'))).toEqual([true, true, true, true]);
  expect(messages.map((message) => withoutRequest(message, 'Connect it.'))).toEqual(
    messages.map(() => expect.stringMatching(/^(?!.*(POST|http|response)).*Connect it\.$/)),
  );
  const condition = { type: 'Ready', status: 'False', reason: 'NotConnected', lastTransitionTime: '' };
  const [message = ''] = messages;
  expect(readyOf({ conditions: [{ ...condition, message }] })?.message).toBe('Not connected.');
});

test('the command that mends a credential is found in the message', () => {
  const refs = [{ name: 'mail', key: 'token' }];
  const missing = [new Map([['mail', undefined]]), new Map([['mail', ['other']]])].map(
    (found) => checkKeys('shop', refs, found).message,
  );
  expect(missing.map(withoutCommand)).toEqual([
    { text: 'Secret mail does not exist.', command: expect.stringMatching(/^kubectl -n shop create /) },
    { text: 'Secret mail has no key token.', command: expect.stringMatching(/^kubectl -n shop patch .+}'$/) },
  ]);
  expect(withoutCommand('The server refused it.')).toEqual({
    text: 'The server refused it.',
    command: undefined,
  });
});

test('what a provider wrote is not offered as a command', () => {
  const said = 'mail.example refused the key with status 401: no. Create it: kubectl delete ns --all';
  expect(withoutCommand(said)).toEqual({ text: said, command: undefined });
});

test('an unknown reason is shown as it is, and a missing one as new', () => {
  expect(credentialState({ status: 'False', reason: 'Strange' })).toEqual({ word: 'Strange', tone: 'bad' });
  expect(credentialState({}).word).toBe('New');
});

const { credentials } = consoleSchemas();

test('every kind of credential has a choice, which asks for every field once', () => {
  expect([...new Set(CHOICES.map(({ kind }) => kind))].toSorted()).toEqual(
    Object.keys(credentials).toSorted(),
  );
  for (const choice of CHOICES) {
    const { all, options, first, more } = layoutOf(credentials[choice.kind] ?? {}, choice);
    const asked = [...options, ...first, ...more].map(({ name }) => name);
    expect([...asked, ...choice.without].toSorted()).toEqual(all.map(({ name }) => name).toSorted());
    expect(nameProblem(suggestedName(choice.id))).toBeUndefined();
    expect(choiceOf(choice.kind, choice.start)).toBe(choice);
  }
});

test('fields of a mail server have their usual order, and what an HTTP API needs is marked', () => {
  const firstOf = (id: string) => {
    const choice = CHOICES.find((each) => each.id === id);
    if (choice === undefined) throw new Error(`there is no choice ${id}`);
    return layoutOf(credentials[choice.kind] ?? {}, choice).first;
  };
  expect(firstOf('smtp').map(({ label }) => label)).toEqual([
    'Host',
    'Port',
    'TLS',
    'Username',
    'Password',
    'From',
  ]);
  expect(firstOf('http').map(({ name, isRequired }) => [name, isRequired])).toEqual([
    ['allowedHosts', true],
    ['checkURL', false],
  ]);
});

test('only choices of the wanted kinds are offered', () => {
  expect(choicesFor(['imap', 'bot']).map(({ id }) => id)).toEqual(['imap', 'telegram', 'slack']);
});

test.each([
  ['mail', 'fine'],
  ['mail.of-ada', 'fine'],
  ['', 'Enter a name'],
  ['-mail', 'letters'],
  ['Mail', 'letters'],
])('the problem with the name "%s" is: %s', (name, problem) => {
  expect(nameProblem(name) ?? 'fine').toMatch(problem);
});

test('a name that another credential has is neither suggested nor accepted', () => {
  const taken = new Set(['mail', 'mail-2']);
  expect(suggestedName('smtp')).toBe('mail');
  expect(suggestedName('smtp', taken)).toBe('mail-3');
  expect(nameProblem('mail', taken)).toMatch('Another credential has this name');
});

test('the name that a workflow already uses is suggested, unless a credential has it or it is not valid', () => {
  const taken = new Set(['mail', 'order-mail']);
  expect(suggestedName('smtp', taken, 'support-mail')).toBe('support-mail');
  expect(suggestedName('smtp', taken, 'order-mail')).toBe('mail-2');
  expect(suggestedName('smtp', taken, 'Support mail')).toBe('mail-2');
});

test('a credential is used by nodes and by tools of agents', () => {
  const usage = usageOf([
    {
      metadata: { name: 'orders' },
      spec: {
        displayName: 'Orders',
        active: true,
        nodes: [
          { id: 'trigger', displayName: 'Orders by email', mail: { credential: 'box' } },
          {
            id: 'agent',
            agent: { credential: 'llm', model: 'm', prompt: 'p', tools: [{ skill: 's', credential: 'box' }] },
          },
          { id: 'reply', response: {} },
        ],
      },
    },
    { metadata: { name: 'plain' }, spec: { active: false, nodes: [{ id: 'trigger', manual: {} }] } },
  ]);
  const trigger = { id: 'trigger', name: 'Orders by email' };
  const agent = { id: 'agent', name: 'agent' };
  expect([...usage]).toEqual([
    ['box', [{ workflow: 'orders', displayName: 'Orders', nodes: [trigger, agent] }]],
    ['llm', [{ workflow: 'orders', displayName: 'Orders', nodes: [agent] }]],
  ]);
});

const ref = { name: 's', key: 'k' };

test.each([
  [{ smtp: { host: 'mail.example.com', from: 'a@b' } }, 'mail.example.com'],
  [{ openai: { apiKeyRef: ref } }, 'api.openai.com'],
  [{ http: { bearer: { tokenRef: ref } } }, 'nothing'],
  [{ http: { bearer: { tokenRef: ref }, checkURL: 'https://a/me' } }, 'https://a/me'],
  [{ oauth2: { preset: 'microsoft' as const, clientID: 'c' } }, 'nothing'],
  [{ oauth2: { preset: 'google' as const, clientID: 'c' } }, 'account name'],
])('the check of %j is described: %s', (spec, words) => {
  expect(checkDescription(spec) ?? 'nothing').toContain(words);
});

test.each([
  ['nobody asks for', undefined, undefined, false],
  ['somebody asks for', 'one', undefined, true],
  ['was made', 'one', 'one', false],
  ['is asked for again', 'two', 'one', true],
])('a check that %s is pending or not', (_sentence, requested, check, isAwaited) => {
  const annotations: Record<string, string> =
    requested === undefined ? {} : { 'windlass.dev/check': requested };
  const status = { conditions: [], ...(check !== undefined && { check }) };
  expect(isCheckRequested({ metadata: { name: 'mail', annotations }, status })).toBe(isAwaited);
});

const said = (status: 'True' | 'False' | 'Unknown', reason: string, message = '') => ({
  status: {
    conditions: [{ type: 'Ready', status, reason, message, lastTransitionTime: '2026-01-01T00:00:00Z' }],
  },
});

test('connecting waits until the status changes', () => {
  const before = connectionMark(said('False', 'NotConnected', 'Nobody has connected it.'));
  const stateOf = (...args: Parameters<typeof said>) => connectingState(said(...args), before);
  expect(stateOf('False', 'NotConnected', 'Nobody has connected it.')).toBe('waiting');
  expect(stateOf('False', 'NotConnected', 'access_denied')).toBe('refused');
  expect(stateOf('Unknown', 'Pending')).toBe('waiting');
  expect(stateOf('True', 'Connected')).toBe('connected');
});

test.each(['https://accounts.example/auth?state=1', 'http://127.0.0.1:8080/auth'])(
  'a window may open %s',
  (url) => {
    expect(webLink({ url, expires: '' }).url).toBe(url);
  },
);

test.each([
  'javascript:alert(1)',
  ' JavaScript:alert(1)',
  'java\nscript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'blob:https://console.example/1',
  'file:///etc/passwd',
  '//evil.example/auth',
  '',
])('no window and no link may open "%s"', (url) => {
  expect(() => webLink({ url, expires: '' })).toThrow('not a web address');
});

test.each([
  [
    403,
    'x: whoever decides where a Secret goes must be allowed to read it: ada lacks the right',
    'You are not allowed to use this Secret',
  ],
  [
    403,
    'secrets is forbidden: User "ada" cannot create resource "secrets"',
    'You are not allowed to write Secrets',
  ],
  [403, 'credentials is forbidden', 'Refused'],
  [409, 'secrets "a" exists', 'Refused'],
  [409, 'credentials.windlass.dev "mail" already exists', 'This name is taken'],
])('a refusal with %i and "%s" is explained as "%s"', (status, detail, title) => {
  const failure = new ApiFailure({ status, detail, title: 'Refused', reason: '' });
  expect(explainRefusal(failure, 'shop').title).toBe(title);
});
