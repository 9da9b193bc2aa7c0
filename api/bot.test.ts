import { expect, test } from 'vitest';
import { botPath, botSecret, telegramId } from './bot.ts';

const TOKEN = '123456789:AAExampleExampleExampleExampleExample';

test('A secret has only characters that Telegram takes, and says nothing of the token', () => {
  const secret = botSecret(TOKEN, 'uid-1');
  expect(secret).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(secret).not.toContain('Example');
});

test('A secret is the same each time, and another one for another token or another credential', () => {
  const secrets = [botSecret(TOKEN, 'uid-1'), botSecret(`${TOKEN}x`, 'uid-1'), botSecret(TOKEN, 'uid-2')];
  expect(new Set(secrets).size).toBe(3);
  expect(botSecret(TOKEN, 'uid-1')).toBe(secrets[0]);
});

test('The path of a bot names its credential', () => {
  expect(botPath('shop', 'support.bot')).toBe('/bot/shop.support.bot');
});

test('Only what a Telegram token begins with is taken for the id of its bot', () => {
  expect(telegramId(TOKEN)).toBe('123456789');
  expect(telegramId('xoxb-123:456')).toBeUndefined();
  expect(telegramId('123456789')).toBeUndefined();
});
