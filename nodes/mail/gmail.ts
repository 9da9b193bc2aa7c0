/**
 * Requests to Gmail's API (https://developers.google.com/workspace/gmail/api/reference/rest). Guarantees that what is read of an answer is
 * bounded, that no redirect is followed, and that every failure is a PollError in words that hold no token.
 */
import * as z from 'zod';
import { isHeaderValue } from '../../api/headers.ts';
import { StepError } from '../../api/reasons.ts';
import { fetchThrough } from '../egress/connect.ts';
import { quoted } from '../node.ts';
import { PollError, type PollContext } from '../poller.ts';
import { retryAfterMs } from '../retryAfter.ts';
import { echoesOf, type Secret } from '../secret.ts';

export const GMAIL_URL = 'https://gmail.googleapis.com';

export type Gmail = {
  baseURL: string;
  token: Secret;
  context: Pick<PollContext, 'egress' | 'signal'>;
};

export type Query = Record<string, string | readonly string[] | undefined>;

/** Of an answer without a mail in it. */
const ANSWER_LIMIT = 4_194_304;
const ERROR_LIMIT = 65_536;

/**
 * The answer to `GET /gmail/v1/users/me/<path>`; undefined for 404.
 * @throws PollError
 */
export async function getGmail<T>(
  gmail: Gmail,
  path: string,
  { query = {}, schema, limit = ANSWER_LIMIT }: { query?: Query; schema: z.ZodType<T>; limit?: number },
): Promise<T | undefined> {
  const url = urlOf(gmail.baseURL, path, query);
  const response = await ask(gmail, url);
  if (response.status === 404) {
    await response.body?.cancel();
    return undefined;
  }
  if (response.status !== 200) throw await refusal(response, gmail, url.host);
  const text = await bodyOf(response, limit, url.host);
  return understood(text, schema, url.host);
}

function urlOf(baseURL: string, path: string, query: Query): URL {
  if (!URL.canParse(baseURL)) throw new PollError('InvalidTrigger', 'apiURL of the credential is no URL');
  const url = new URL(`${baseURL.replace(/\/+$/, '')}/gmail/v1/users/me/${path}`);
  for (const [name, value] of Object.entries(query))
    for (const each of typeof value === 'string' ? [value] : (value ?? []))
      url.searchParams.append(name, each);
  return url;
}

async function ask({ token, context }: Gmail, url: URL): Promise<Response> {
  if (!isHeaderValue(token.reveal()))
    throw new PollError('Rejected', 'the access token holds a character that headers cannot hold');
  const headers = {
    accept: 'application/json',
    authorization: `Bearer ${token.reveal()}`,
    'user-agent': 'Windlass',
  };
  try {
    return await fetchThrough(context.egress)(url.href, {
      headers,
      redirect: 'manual',
      signal: context.signal,
    });
  } catch (error) {
    throw brokenOff(error, url.host, context.signal);
  }
}

function brokenOff(error: unknown, host: string, signal: AbortSignal): Error {
  if (signal.aborted)
    return signal.reason instanceof Error ? signal.reason : new PollError('Timeout', 'the look was stopped');
  const cause = (error as { cause?: unknown }).cause ?? error;
  if (cause instanceof StepError || cause instanceof PollError) return cause;
  const { code } = cause as { code?: unknown };
  const why = typeof code === 'string' ? code : 'the connection was lost';
  return new PollError('Unreachable', `no answer from ${host}: ${why}`, { cause: error });
}

async function bodyOf(response: Response, limit: number, host: string): Promise<string> {
  const text = await readUpTo(response, limit);
  if (text !== undefined) return text;
  throw new PollError('InvalidAnswer', `${host} answered with more than ${limit} bytes`);
}

/** The body; undefined where it has more. */
async function readUpTo({ body }: Response, limit: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > limit) return undefined;
  }
  return Buffer.concat(chunks).toString('utf8');
}

function understood<T>(text: string, schema: z.ZodType<T>, host: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw new PollError('InvalidAnswer', `${host} answered with something that cannot be read`, {
      cause: error,
    });
  }
}

/** https://developers.google.com/workspace/gmail/api/guides/handle-errors */
const errorSchema = z.object({
  error: z.object({
    message: z.string().optional(),
    status: z.string().optional(),
    errors: z.array(z.object({ reason: z.string().optional() })).optional(),
    details: z.array(z.object({ reason: z.string().optional() })).optional(),
  }),
});

const LIMITED = /rateLimitExceeded|quotaExceeded|dailyLimitExceeded|RESOURCE_EXHAUSTED|RATE_LIMIT_EXCEEDED/i;
const UNSCOPED = /insufficientPermissions|ACCESS_TOKEN_SCOPE_INSUFFICIENT/;

async function refusal(response: Response, { token }: Gmail, host: string): Promise<PollError> {
  const { status, headers } = response;
  const text = (await readUpTo(response, ERROR_LIMIT).catch(() => '')) ?? '';
  const parsed = errorSchema.safeParse(parsedOrNothing(text));
  const error = parsed.success ? parsed.data.error : {};
  const reasons = [error.status, ...(error.errors ?? []), ...(error.details ?? [])]
    .map((each) => (typeof each === 'object' ? each.reason : each))
    .join(' ');
  const said = quoted(error.message ?? `status ${status}`, echoesOf(token));
  const wait = retryAfterMs(headers);
  const options = wait === undefined ? {} : { retryAfterSeconds: Math.ceil(wait / 1_000) };
  if (status === 429 || (status === 403 && LIMITED.test(reasons)))
    return new PollError('RateLimited', `${host} asks to wait: ${said}`, options);
  if (status === 403 && UNSCOPED.test(reasons))
    return new PollError('MissingScope', `the access has not the right to read mail: ${said}`);
  if (status === 401 || status === 403)
    return new PollError('Rejected', `${host} refused the access: ${said}`);
  if (status >= 500)
    return new PollError('UpstreamError', `${host} has an error of its own: ${said}`, options);
  return new PollError('InvalidAnswer', `${host} answered with status ${status}: ${said}`);
}

function parsedOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
