/** Asks a messaging service who the bot is. */
import { isHeaderValue } from '../../../api/headers.ts';
import { partOf, type CredentialAccess } from '../../node.ts';
import { echoesOf, type Secret } from '../../secret.ts';
import { ask, refusal, under } from '../../http/ask.ts';
import { CheckError, shown, type Check, type CheckContext, type Found } from '../../check.ts';

const TELEGRAM = 'https://api.telegram.org';
const SLACK = 'https://slack.com/api';
const LONGEST_NAME = 200;

export const checkBot: Check = (credential, context) => {
  const { platform = 'telegram', tokenRef } = partOf(credential, 'bot');
  const token = credential.secret(tokenRef);
  return platform === 'slack'
    ? askSlack(credential, token, context)
    : askTelegram(credential, token, context);
};

/** `getMe` (https://core.telegram.org/bots/api#getme). The token is a part of the path; what has not the form of one is 404. */
async function askTelegram(
  credential: CredentialAccess,
  token: Secret,
  context: CheckContext,
): Promise<Found> {
  const { apiURL = TELEGRAM } = partOf(credential, 'bot');
  const secrets = echoesOf(token);
  const answer = await ask(
    { url: under(apiURL, `/bot${encodeURIComponent(token.reveal())}/getMe`) },
    context,
  );
  if (answer.status === 404) throw new CheckError('Rejected', `${answer.host} knows no bot with this token`);
  const { ok, result } = (answer.json ?? {}) as { ok?: boolean; result?: { username?: unknown } };
  if (answer.status !== 200 || ok !== true) throw refusal(answer, 'the token', secrets);
  return found(answer.host, shown(result?.username, secrets, LONGEST_NAME));
}

/** `auth.test` (https://docs.slack.dev/reference/methods/auth.test), which answers 200 also where it refuses. */
async function askSlack(credential: CredentialAccess, token: Secret, context: CheckContext): Promise<Found> {
  const { apiURL = SLACK } = partOf(credential, 'bot');
  const secrets = echoesOf(token);
  if (!isHeaderValue(token.reveal()))
    throw new CheckError(
      'Rejected',
      'the token holds a line break or another character that headers cannot hold',
    );
  const headers = { authorization: `Bearer ${token.reveal()}` };
  const answer = await ask({ url: under(apiURL, '/auth.test'), method: 'POST', headers }, context);
  const said = (answer.json ?? {}) as { ok?: boolean; error?: unknown; user?: unknown; team?: unknown };
  if (answer.status !== 200 || typeof said.ok !== 'boolean') throw refusal(answer, 'the token', secrets);
  if (!said.ok) throw slackRefusal(answer.host, shown(said.error, secrets, LONGEST_NAME) ?? 'no reason');
  const [user, team] = [said.user, said.team].map((each) => shown(each, secrets, LONGEST_NAME));
  return found(answer.host, user !== undefined && team !== undefined ? `${user} (${team})` : user);
}

/** What of its errors is not about the token. */
const PASSING = /^(ratelimited|rate_limited|service_unavailable|fatal_error|internal_error|request_timeout)$/;

function slackRefusal(host: string, error: string): CheckError {
  if (PASSING.test(error)) return new CheckError('Unreachable', `${host} answered ${error}`);
  if (error === 'token_expired')
    return new CheckError('Expired', `${host} says that the token has expired: make a new one`);
  if (error === 'missing_scope')
    return new CheckError('MissingScope', `${host} says that the token lacks a scope`);
  return new CheckError('Rejected', `${host} refused the token: ${error}`);
}

function found(host: string, account: string | undefined): Found {
  return { message: `${host} took the token.`, ...(account !== undefined && { account }) };
}
