/** Telegram bots are checked. */
import { expect, test } from 'vitest';
import { check, ref, startProvider } from '../../../test/support/nodes/credentialCheck.ts';

const side = await startProvider();
const bot = () => ({
  bot: { platform: 'telegram' as const, tokenRef: ref('token'), apiURL: side.url },
});
/** https://core.telegram.org/bots/api#getme */
const telegramMe = { ok: true, result: { id: 1, is_bot: true, first_name: 'Shop', username: 'shop_bot' } };

test('a Telegram bot is asked who it is, with the token in the path', async () => {
  side.answer(200, telegramMe);
  expect(await check(bot(), { token: '123:abc-DEF_4' })).toMatchObject({
    works: true,
    account: 'shop_bot',
  });
  expect(side.seen).toEqual(['GET /bot123:abc-DEF_4/getMe']);
});

test.each([
  [401, { ok: false, error_code: 401, description: 'Unauthorized' }, 'Rejected'],
  [404, { ok: false, error_code: 404, description: 'Not Found' }, 'Rejected'],
  [
    429,
    { ok: false, error_code: 429, description: 'Too Many Requests', parameters: { retry_after: 3 } },
    'Unreachable',
  ],
  [502, 'Bad Gateway', 'Unreachable'],
])('a Telegram bot whose token gets a %i is %#', async (status, body, reason) => {
  side.answer(status, body);
  expect(await check(bot())).toMatchObject({ works: false, reason });
});
