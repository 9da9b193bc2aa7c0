/** `test/unit/console/operatorWords.test.ts` compares the patterns with what the operator says. */
import { expect, test } from 'vitest';
import { isWithoutCredential, operatorWords } from './operatorWords.ts';

test.each([
  [
    'node mail: skill: credential is missing: send_email needs the name of a Credential of kind smtp or oauth2; node ask: agent: tools[0]: credential is missing: send_email needs the name of a Credential of kind smtp',
    'node mail: skill: choose a credential for Send email (SMTP), Google, Microsoft or other account; node ask: agent: tools[0]: choose a credential for Send email (SMTP)',
  ],
  [
    'node mail: Credential choose-an-account does not exist in this namespace: apply it, or name another one',
    'node mail: choose a credential, or create one',
  ],
  [
    'No message starts a run: Credential bot does not exist in this namespace: apply it, or name another one.',
    'No message starts a run: Credential bot does not exist in this project. Create it or choose another one.',
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
