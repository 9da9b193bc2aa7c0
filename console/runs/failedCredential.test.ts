import { expect, test } from 'vitest';
import { failedCredentials } from './failedCredential.ts';

const mail = {
  id: 'mail',
  skill: { name: 'send_email', credential: 'smtp', parameters: { credential: 'no' } },
};
const agent = {
  id: 'ask',
  kind: 'agent',
  agent: {
    credential: 'model',
    fallback: [{ credential: 'other-model', model: 'b' }],
    tools: [{ skill: 'send_email', credential: 'smtp' }, { skill: 'send_email', credential: 'smtp' }, {}],
  },
};

test.each([
  ['the credential of the step', mail, 'CredentialRejected', 'login failed', ['smtp']],
  [
    'the one that the message names',
    agent,
    'CredentialMissing',
    'the Secret x of the Credential smtp does not exist',
    ['smtp'],
  ],
  [
    'all of an agent if the message names none',
    agent,
    'CredentialRejected',
    'status 401',
    ['model', 'smtp', 'other-model'],
  ],
  [
    'a whole name, not a part of it',
    agent,
    'CredentialMissing',
    'the Credential other-model is missing',
    ['other-model'],
  ],
  ['none of another failure', mail, 'Unreachable', 'smtp does not answer', []],
  ['none of a node without one', { id: 'a', skill: { name: 'http_request' } }, 'CredentialRejected', '', []],
  ['none of a node that no longer exists', undefined, 'CredentialMissing', '', []],
])('a failure leads to %s', (_what, node, reason, message, names) => {
  expect(failedCredentials(node, { reason, message })).toEqual(names);
});
