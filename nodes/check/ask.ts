/**
 * One HTTP request of a check. Redirects are not followed, what is read is bounded, and messages name the host and never the URL,
 * which may hold a secret.
 */
import { StepError } from '../../api/reasons.ts';
import { fetchThrough } from '../egress/connect.ts';
import type { Mask } from '../secret.ts';
import { retryAfterMs } from '../retryAfter.ts';
import { CheckError, shown, type CheckContext } from './check.ts';

export type Question = {
  url: URL;
  method?: 'GET' | 'HEAD' | 'POST';
  headers?: Readonly<Record<string, string>>;
  body?: string;
};

export type Answer = {
  host: string;
  status: number;
  headers: Headers;
  /** The body as JSON; undefined where it is none, or too long. */
  json: unknown;
};

/** Lists of models have some hundred kilobytes. */
const MOST_BYTES = 4 * 1024 * 1024;
const LONGEST_QUOTE = 300;

/**
 * Asks.
 * @throws CheckError `Unreachable`, or a StepError `AddressForbidden`
 */
export async function ask(question: Question, { egress, signal }: CheckContext): Promise<Answer> {
  const { url, method = 'GET', headers = {}, body } = question;
  const { host } = url;
  try {
    const response = await fetchThrough(egress)(url.href, {
      method,
      headers: { accept: 'application/json', 'user-agent': 'Windlass', ...headers },
      redirect: 'manual',
      signal,
      ...(body !== undefined && { body }),
    });
    const text = await beginningOf(response);
    return { host, status: response.status, headers: response.headers, json: parsed(text) };
  } catch (error) {
    throw brokenOff(error, host);
  }
}

async function beginningOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MOST_BYTES) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Of a chain of causes the innermost says what happened. */
function brokenOff(error: unknown, host: string): Error {
  let code = 'it broke off';
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof StepError) return cause;
    if ('code' in cause && typeof cause.code === 'string') code = cause.code;
  }
  return new CheckError('Unreachable', `no answer from ${host}: ${code}`);
}

/** The error for an answer that is not what a working credential gets; with what the other side says of it, masked. */
export function refusal(answer: Answer, what: string, secrets: readonly Mask[]): CheckError {
  const { host, status, headers } = answer;
  const said = shown(messageIn(answer.json), secrets, LONGEST_QUOTE);
  const tail = `${status}${said === undefined ? '' : `: ${said}`}`;
  const isMissingScope = /error="?insufficient_scope/.test(headers.get('www-authenticate') ?? '');
  if (isMissingScope) return new CheckError('MissingScope', `${host} wants a right that ${what} lacks`);
  if (status === 401 || status === 403)
    return new CheckError('Rejected', `${host} refused ${what} with status ${tail}`);
  const options = { retryAfterMs: retryAfterMs(headers) };
  if (status === 429) return new CheckError('Unreachable', `${host} asks to wait, status ${tail}`, options);
  return new CheckError('Unreachable', `${host} answered with status ${tail}`, options);
}

/** Where the error of an API has its text: OpenAI's and many others', OAuth's, Telegram's. */
function messageIn(json: unknown): unknown {
  if (typeof json !== 'object' || json === null) return undefined;
  const { error, error_description: described, description, message } = json as Record<string, unknown>;
  if (typeof error === 'object' && error !== null) return (error as Record<string, unknown>)['message'];
  return [described, description, message, error].find((each) => typeof each === 'string');
}

/** The URL with a path behind it. Throws a CheckError `Rejected` where the address is none. */
export function under(base: string, path: string): URL {
  const text = `${base.replace(/\/+$/, '')}${path}`;
  if (URL.canParse(text)) return new URL(text);
  throw new CheckError('Rejected', 'the address in the credential is no URL: correct it');
}
