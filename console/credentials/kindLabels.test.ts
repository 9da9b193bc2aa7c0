import { expect, test } from 'vitest';
import { credentialKindsText } from './kindLabels.ts';

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
