/** Slack bots are checked. */
import { expect, test } from 'vitest';
import { check, KEY, ref, startProvider } from '../../../test/support/nodes/credentialCheck.ts';
import { sendJson } from '../../../test/support/network/listen.ts';

const side = await startProvider();
const bot = () => ({ bot: { platform: 'slack' as const, tokenRef: ref('token'), apiURL: side.url } });
/** https://docs.slack.dev/reference/methods/auth.test */
const slackMe = { ok: true, team: 'Shop', user: 'shopbot', team_id: 'T1', user_id: 'U1', bot_id: 'B1' };

test('a Slack bot is asked who it is, with the token in a header', async () => {
  side.handle((request, response) =>
    sendJson(response, 200, request.headers.authorization === `Bearer ${KEY}` ? slackMe : { ok: false }),
  );
  expect(await check(bot())).toMatchObject({ works: true, account: 'shopbot (Shop)' });
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
  expect(await check(bot())).toMatchObject({ works: false, reason });
});
