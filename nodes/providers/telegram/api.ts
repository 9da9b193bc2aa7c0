/**
 * Addresses of Telegram's Bot API (https://core.telegram.org/bots/api#making-requests). The token is part of
 * the URL, so messages never show it.
 */
import { apiURL as urlOf } from '../../http/json.ts';
import type { Secret } from '../../contract/secret.ts';

const TELEGRAM_URL = 'https://api.telegram.org';

/**
 * The URL of a method. `apiURL`: where the API is, if not at Telegram.
 * @throws StepError `InvalidParameters`
 */
export function methodURL(token: Secret, method: string, apiURL: string = TELEGRAM_URL): URL {
  // The colon of a token is not escaped, as the documentation writes it.
  const path = encodeURIComponent(token.reveal()).replace('%3A', ':');
  return urlOf(apiURL, `bot${path}/${method}`);
}
