import { expect, test } from 'vitest';
import { chatId, isSessionToken, newSessionToken, sessionName } from './chat.ts';

test('the ID of a chat stays, differs between workflows, and does not show their uid', () => {
  expect(chatId('uid-1')).toMatch(/^[0-9a-f]{32}$/);
  expect(chatId('uid-1')).toBe(chatId('uid-1'));
  expect(chatId('uid-1')).not.toBe(chatId('uid-2'));
});

test('a new token of a session has its form, and no two are equal', () => {
  expect(isSessionToken(newSessionToken())).toBe(true);
  expect(newSessionToken()).not.toBe(newSessionToken());
});

test.each(['', 'a', 'a'.repeat(42), 'a'.repeat(44), `${'a'.repeat(42)}.`, `${'a'.repeat(42)}\n`])(
  'a text of another form is not a session token',
  (text) => expect(isSessionToken(text)).toBe(false),
);

test('the name of a session depends on token and chat', () => {
  const [one, two] = [newSessionToken(), newSessionToken()];
  expect(sessionName('w', one)).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(sessionName('w', one)).toBe(sessionName('w', one));
  expect(new Set([sessionName('w', one), sessionName('w', two), sessionName('x', one)]).size).toBe(3);
});
