/**
 * Requests to the Gmail API (https://developers.google.com/workspace/gmail/api/reference/rest) for the
 * account's own mailbox.
 */
import type { Account, AccountCall } from '../../http/json.ts';
import { type Wire, accessToken, type CredentialAccess } from '../../contract/node.ts';
import { callGoogle } from './api.ts';

const GMAIL_URL = 'https://gmail.googleapis.com';

export type Gmail = Account;

/** The mailbox of a connected account. Throws a StepError `CredentialMissing`. */
export function openGmail(credential: CredentialAccess, wire: Wire): Gmail {
  const { apiURL = GMAIL_URL } = credential.spec.oauth2 ?? {};
  return { baseURL: apiURL, token: accessToken(credential), wire };
}

/** Of an answer without a mail in it. */
const ANSWER_LIMIT = 4_194_304;

/**
 * The answer to `GET /gmail/v1/users/me/<path>`; undefined for 404.
 * @throws Failure, StepError
 */
export function getGmail<T>(
  gmail: Gmail,
  path: string,
  { limit = ANSWER_LIMIT, ...call }: Pick<AccountCall<T>, 'query' | 'schema'> & { limit?: number },
): Promise<T | undefined> {
  const fullPath = `gmail/v1/users/me/${path}`;
  return callGoogle(gmail, { ...call, path: fullPath, limit, right: 'read mail', absent: [404] });
}
