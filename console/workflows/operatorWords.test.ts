import { expect, test } from 'vitest';
import { isWithoutCredential, operatorWords } from './operatorWords.ts';

test.each([
  [
    'node each: the group has no body: set within: each on the nodes that belong to it',
    'node each: the group has no nodes: add the first one',
  ],
  [
    'node mail: skill: credential is missing: send_email needs the name of a Credential of kind smtp or oauth2; node ask: agent: tools[0]: credential is missing: send_email needs the name of a Credential of kind smtp',
    'node mail: skill: choose a credential for Send email (SMTP), Google, Microsoft or other account; node ask: agent: tools[0]: choose a credential for Send email (SMTP)',
  ],
  [
    'node mail: Credential box is of kind imap, the node needs smtp: name another one',
    'node mail: Credential box is for Read email (IMAP): choose one for Send email (SMTP)',
  ],
  [
    'node mail: Credential box does not exist in this namespace: apply it, or name another one',
    'node mail: Credential box does not exist in this project: create it, or choose another one',
  ],
  [
    'node mail: Credential choose-an-account does not exist in this namespace: apply it, or name another one',
    'node mail: choose a credential, or create one',
  ],
  [
    'node get: Credential api names no host that it may be sent to: add "api.example.com" to its spec.oauth2.allowedHosts',
    'node get: Credential api may not be sent to any host by HTTP requests: edit it, and add "api.example.com" to Allowed hosts',
  ],
  [
    'node mail: no edge leads to it, so it would never run: add an edge to it, or remove it',
    'node mail: no connection leads to it, so it would never run: add a connection to it, or remove it',
  ],
])('the message "%s" is "%s"', (message, words) => {
  expect(operatorWords(message)).toBe(words);
});

test.each([
  ['node mail: skill: credential is missing: send_email needs the name of a Credential of kind smtp', true],
  ['node mail: skill: parameters: to: is missing', false],
])('%s: no credential is named: %s', (message, isWithout) => {
  expect(isWithoutCredential(message)).toBe(isWithout);
});
