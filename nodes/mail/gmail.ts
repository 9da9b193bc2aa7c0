/** Requests to Gmail's API (https://developers.google.com/workspace/gmail/api/reference/rest), for the mailbox of the account itself. */
import { getGoogle, type Asked, type GoogleAccount } from '../google/request.ts';

export const GMAIL_URL = 'https://gmail.googleapis.com';

export type Gmail = GoogleAccount;

/** Of an answer without a mail in it. */
const ANSWER_LIMIT = 4_194_304;

/**
 * The answer to `GET /gmail/v1/users/me/<path>`; undefined for 404.
 * @throws PollError
 */
export function getGmail<T>(
  gmail: Gmail,
  path: string,
  { limit = ANSWER_LIMIT, ...asked }: Omit<Asked<T>, 'limit' | 'right'> & { limit?: number },
): Promise<T | undefined> {
  return getGoogle(gmail, `gmail/v1/users/me/${path}`, { ...asked, limit, right: 'read mail' });
}
