/** The requests of credential checks, and the errors for their answers. */
import { isRecord, membersOf } from '../../api/record.ts';
import { CheckError, type CheckContext } from '../contract/check.ts';
import { quoted, type Mask } from '../contract/secret.ts';
import { callJson, type JsonAnswer, type JsonCall } from './json.ts';
import { retryAfterMs } from './retryAfter.ts';
import { joinURL } from './url.ts';

/** A name that the provider gave, fit for the status: masked, one line, of at most so many characters. */
export function shown(text: unknown, secrets: readonly Mask[], most: number): string | undefined {
  if (typeof text !== 'string') return undefined;
  const line = quoted(text, secrets)
    .replaceAll(/\p{Cc}/gu, '')
    .slice(0, most);
  return line === '' ? undefined : line;
}

/** Lists of models have some hundred kilobytes. */
const LIMIT = 4 * 1024 * 1024;
const LONGEST_QUOTE = 300;

/**
 * Calls an API.
 * @throws Failure
 */
export function ask(
  call: Omit<JsonCall, 'limit' | 'method'> & Partial<Pick<JsonCall, 'method'>>,
  context: CheckContext,
): Promise<JsonAnswer> {
  return callJson({ method: 'GET', ...call, limit: LIMIT }, context);
}

/**
 * The error for an answer that a working credential does not get. `what`: what was refused, such as "the API
 * key".
 */
export function refusal(
  { host, status, headers, json }: JsonAnswer,
  what: string,
  secrets: readonly Mask[],
): CheckError {
  const said = shown(messageIn(json), secrets, LONGEST_QUOTE);
  const tail = `${status}${said === undefined ? '' : `: ${said}`}`;
  const isMissingScope = /error="?insufficient_scope/.test(headers['www-authenticate'] ?? '');
  if (isMissingScope) return new CheckError('MissingScope', `${host} requires a scope that ${what} lacks`);
  if (status === 401 || status === 403 || isInvalidKey(said ?? ''))
    return new CheckError('Rejected', `${host} refused ${what} with status ${tail}`);
  const options = { retryAfterMs: retryAfterMs(headers) };
  if (status === 429)
    return new CheckError('Unreachable', `${host} limits the rate of requests: status ${tail}`, options);
  return new CheckError('Unreachable', `${host} answered with status ${tail}`, options);
}

/** Whether the message is about the API key: Google's servers refuse a wrong one with status 400. */
export function isInvalidKey(message: string): boolean {
  return message.includes('API key not valid');
}

/** Where the error of an API has its text: OpenAI's and others', OAuth's, Telegram's; Gemini's is a list. */
function messageIn(given: unknown): unknown {
  const json: unknown = Array.isArray(given) ? given[0] : given;
  const { error, error_description: described, description, message } = membersOf(json);
  if (isRecord(error)) return error['message'];
  return [described, description, message, error].find((each) => typeof each === 'string');
}

/** The base URL with a path appended. Throws a CheckError `Rejected` where the base is not a URL. */
export function under(base: string, path: string): URL {
  const url = joinURL(base, path);
  if (url) return url;
  throw new CheckError('Rejected', 'the address in the credential is not a URL: correct it');
}
