/** Bots of Telegram and Slack are tried. */
import { expect, test } from 'vitest';
import { check, KEY, ref, startOtherSide } from '../../../test/support/checking.ts';
import { sendJson } from '../../../test/support/listen.ts';

const side = await startOtherSide();
const bot = (platform: 'telegram' | 'slack') => ({
  bot: { platform, tokenRef: ref('token'), apiURL: side.url },
});
/** What each answers is in its documentation: core.telegram.org/bots/api, docs.slack.dev/reference/methods/auth.test */
const telegramMe = { ok: true, result: { id: 1, is_bot: true, first_name: 'Shop', username: 'shop_bot' } };
const slackMe = { ok: true, team: 'Shop', user: 'shopbot', team_id: 'T1', user_id: 'U1', bot_id: 'B1' };

test('a Telegram bot is asked who it is, with the token in the path', async () => {
  side.answer(200, telegramMe);
  expect(await check(bot('telegram'), { token: '123:abc-DEF_4' })).toMatchObject({
    works: true,
    account: 'shop_bot',
  });
  expect(side.seen).toEqual(['GET /bot123%3Aabc-DEF_4/getMe']);
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
  expect(await check(bot('telegram'))).toMatchObject({ works: false, reason });
});

test('a Slack bot is asked who it is, with the token in a header', async () => {
  side.handle((request, response) =>
    sendJson(response, 200, request.headers.authorization === `Bearer ${KEY}` ? slackMe : { ok: false }),
  );
  expect(await check(bot('slack'))).toMatchObject({ works: true, account: 'shopbot (Shop)' });
  expect(side.seen).toEqual(['POST /auth.test']);
});

test.each([
  ['invalid_auth', 'Rejected'],
  ['account_inactive', 'Rejected'],
  ['token_revoked', 'Rejected'],
  ['token_expired', 'Expired'],
  ['missing_scope', 'MissingScope'],
  ['ratelimited', 'Unreachable'],
  ['internal_error', 'Unreachable'],
])('a Slack bot whose token gets %s is %s', async (error, reason) => {
  side.answer(200, { ok: false, error });
  expect(await check(bot('slack'))).toMatchObject({ works: false, reason });
});
