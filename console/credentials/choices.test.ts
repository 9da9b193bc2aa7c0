import { expect, test } from 'vitest';
import { CHOICES, choiceOf, choicesFor, credentialKindsText } from './choices.ts';

test.each(CHOICES.map((choice) => [choice.id, choice] as const))(
  'a credential that was created from the choice %s is known as one of it',
  (id, { kind, start }) => expect(choiceOf(kind, start).id).toBe(id),
);

test('agents can choose each service of models', () =>
  expect(choicesFor(['openai', 'anthropic']).map(({ id }) => id)).toEqual([
    'openai',
    'anthropic',
    'gemini',
    'azure-openai',
    'ollama',
  ]));

test.each([
  [['openai', 'anthropic'], 'Language model'],
  [['imap', 'oauth2'], 'Read email (IMAP), Google, Microsoft or other account'],
  [['http', 's3'], 'HTTP API or S3 bucket'],
])('credentials of the kinds %j are called %s', (kinds, words) => {
  expect(credentialKindsText(kinds)).toBe(words);
});

test.each([
  [['oauth2'], 'Google, Microsoft or other account'],
  [['imap', 'oauth2'], 'One of: Read email (IMAP), Google, Microsoft or other account'],
  [['http', 's3'], 'HTTP API or S3 bucket'],
])('a card of a template names the kinds %j as %s', (kinds, words) => {
  expect(credentialKindsText(kinds, 'One of: ')).toBe(words);
});
