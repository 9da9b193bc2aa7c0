/** Asks Slack who the bot is: `auth.test` (https://docs.slack.dev/reference/methods/auth.test). */
import { CheckError, type Check } from '../../contract/check.ts';
import { ask, refusal, shown, under } from '../../http/check.ts';
import { bearerOf } from '../../http/json.ts';
import { partOf } from '../../contract/node.ts';
import { echoesOf } from '../../contract/secret.ts';
import { problemOf, SLACK_URL } from './api.ts';

const LONGEST_NAME = 200;

export const checkSlack: Check = async (credential, context) => {
  const { apiURL = SLACK_URL, tokenRef } = partOf(credential, 'bot');
  const token = credential.secret(tokenRef);
  const secrets = echoesOf(token);
  const headers = { authorization: bearerOf(token, 'token') };
  const answer = await ask({ url: under(apiURL, '/auth.test'), method: 'POST', headers }, context);
  const said = (answer.json ?? {}) as { ok?: boolean; error?: unknown; user?: unknown; team?: unknown };
  if (answer.status !== 200 || typeof said.ok !== 'boolean') throw refusal(answer, 'the token', secrets);
  if (!said.ok) throw errorOf(answer.host, shown(said.error, secrets, LONGEST_NAME) ?? 'no reason');
  const [user, team] = [said.user, said.team].map((each) => shown(each, secrets, LONGEST_NAME));
  const account = user !== undefined && team !== undefined ? `${user} (${team})` : user;
  return { message: `${answer.host} accepted the token.`, ...(account !== undefined && { account }) };
};

function errorOf(host: string, error: string): CheckError {
  const problem = problemOf(error);
  if (problem === 'limit' || problem === 'outage')
    return new CheckError('Unreachable', `${host} answered ${error}`);
  if (problem === 'expired')
    return new CheckError('Expired', `${host} says that the token has expired: create a new one`);
  if (problem === 'scope') return new CheckError('MissingScope', `${host} says that the token lacks a scope`);
  return new CheckError('Rejected', `${host} refused the token: ${error}`);
}
