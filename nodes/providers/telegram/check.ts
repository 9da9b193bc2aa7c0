/** Asks Telegram who the bot is: `getMe` (https://core.telegram.org/bots/api#getme). */
import { CheckError, type Check } from '../../contract/check.ts';
import { ask, refusal, shown } from '../../http/check.ts';
import { partOf } from '../../contract/node.ts';
import { echoesOf } from '../../contract/secret.ts';
import { methodURL } from './api.ts';

const LONGEST_NAME = 200;

export const checkTelegram: Check = async (credential, context) => {
  const { apiURL, tokenRef } = partOf(credential, 'bot');
  const token = credential.secret(tokenRef);
  const secrets = echoesOf(token);
  const answer = await ask({ url: methodURL(token, 'getMe', apiURL) }, context);
  // A text that does not have the form of a token is not a path of the API.
  if (answer.status === 404) throw new CheckError('Rejected', `${answer.host} knows no bot with this token`);
  const { ok, result } = (answer.json ?? {}) as { ok?: boolean; result?: { username?: unknown } };
  if (answer.status !== 200 || ok !== true) throw refusal(answer, 'the token', secrets);
  const account = shown(result?.username, secrets, LONGEST_NAME);
  return { message: `${answer.host} accepted the token.`, ...(account !== undefined && { account }) };
};
