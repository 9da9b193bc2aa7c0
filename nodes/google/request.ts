/**
 * Requests of pollers to Google's APIs (https://google.aip.dev/193) and to Microsoft Graph (https://learn.microsoft.com/graph/errors). Guarantees that what is read of an answer is bounded, that no
 * redirect is followed, and that every failure is a PollError in words that hold no token.
 */
import * as z from 'zod';
import { isHeaderValue } from '../../api/headers.ts';
import { StepError } from '../../api/reasons.ts';
import { fetchThrough } from '../egress/connect.ts';
import { quoted } from '../node.ts';
import { PollError, type PollContext } from '../poller.ts';
import { retryAfterMs } from '../retryAfter.ts';
import { echoesOf, type Secret } from '../secret.ts';

export type GoogleAccount = {
  baseURL: string;
  token: Secret;
  context: Pick<PollContext, 'egress' | 'signal'>;
};

type Query = Record<string, string | readonly string[] | undefined>;

export type Asked<T> = {
  query?: Query;
  /** Beside those that all requests have. */
  headers?: Readonly<Record<string, string>>;
  schema: z.ZodType<T>;
  /** Bytes that an answer may have. */
  limit: number;
  /** What the access has no right to where it lacks one, such as "read mail". */
  right: string;
  /** The statuses that say that there is no such thing. Default: 404. */
  absent?: readonly number[];
};

const ERROR_LIMIT = 65_536;

/** An answer that has more bytes than were to be read. */
export class AnswerTooLarge extends PollError {}

/**
 * The answer to `GET <baseURL>/<path>`; undefined where there is no such thing.
 * @throws PollError, of the class AnswerTooLarge where that is why
 */
export function getGoogle<T>(account: GoogleAccount, path: string, asked: Asked<T>): Promise<T | undefined> {
  return request(account, { method: 'GET', path }, asked);
}

/**
 * The same for a `POST`.
 * @throws PollError
 */
export function postJson<T>(
  account: GoogleAccount,
  path: string,
  { body, ...asked }: Asked<T> & { body: object },
): Promise<T | undefined> {
  return request(account, { method: 'POST', path, body }, asked);
}

type Call = { method: 'GET' | 'POST'; path: string; body?: object };

async function request<T>(
  account: GoogleAccount,
  call: Call,
  { query = {}, headers, schema, limit, right, absent = [404] }: Asked<T>,
): Promise<T | undefined> {
  const url = urlOf(account.baseURL, call.path, query);
  const response = await ask(account, url, { ...call, headers });
  if (absent.includes(response.status)) {
    await response.body?.cancel();
    return undefined;
  }
  if (response.status !== 200 && response.status !== 201)
    throw await refusal(response, account, { host: url.host, right });
  const text = await readUpTo(response, limit);
  if (text !== undefined) return understood(text, schema, url.host);
  throw new AnswerTooLarge('InvalidAnswer', `${url.host} answered with more than ${limit} bytes`);
}

function urlOf(baseURL: string, path: string, query: Query): URL {
  if (!URL.canParse(baseURL)) throw new PollError('InvalidTrigger', 'apiURL of the credential is no URL');
  const url = new URL(`${baseURL.replace(/\/+$/, '')}/${path}`);
  for (const [name, value] of Object.entries(query))
    for (const each of typeof value === 'string' ? [value] : (value ?? []))
      url.searchParams.append(name, each);
  return url;
}

async function ask(
  { token, context }: GoogleAccount,
  url: URL,
  { method, headers: own, body }: Omit<Call, 'path'> & Pick<Asked<unknown>, 'headers'>,
): Promise<Response> {
  if (!isHeaderValue(token.reveal()))
    throw new PollError('Rejected', 'the access token holds a character that headers cannot hold');
  const headers = {
    ...own,
    accept: 'application/json',
    authorization: `Bearer ${token.reveal()}`,
    'user-agent': 'Windlass',
    ...(body && { 'content-type': 'application/json' }),
  };
  try {
    return await fetchThrough(context.egress)(url.href, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
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

/**
 * Newer APIs of Google have `status` and `details`, older ones `errors`: https://google.aip.dev/193, https://developers.google.com/workspace/gmail/api/guides/handle-errors
 * Graph has a `code` that is a word, and for workbooks a closer one within: https://learn.microsoft.com/graph/workbook-error-codes
 */
const errorSchema = z.object({
  error: z.object({
    code: z.union([z.string(), z.number()]).optional(),
    innerError: z.object({ code: z.string().optional() }).optional(),
    message: z.string().optional(),
    status: z.string().optional(),
    errors: z.array(z.object({ reason: z.string().optional() })).optional(),
    details: z.array(z.object({ reason: z.string().optional() })).optional(),
  }),
});

const LIMITED = /rateLimitExceeded|quotaExceeded|dailyLimitExceeded|RESOURCE_EXHAUSTED|RATE_LIMIT_EXCEEDED/i;
/** Of ranges of cells: https://learn.microsoft.com/graph/workbook-error-handling */
const LARGE = /rangeExceedsLimit|(?:response|payload)\w*(?:LimitExceeded|TooLarge)/i;
const UNSCOPED = /insufficientPermissions|ACCESS_TOKEN_SCOPE_INSUFFICIENT/;

async function refusal(
  response: Response,
  { token }: GoogleAccount,
  { host, right }: { host: string; right: string },
): Promise<PollError> {
  const { status, headers } = response;
  const text = (await readUpTo(response, ERROR_LIMIT).catch(() => '')) ?? '';
  const { message = `status ${status}`, reasons } = toldBy(text);
  const said = quoted(message, echoesOf(token));
  const wait = retryAfterMs(headers);
  const options = wait === undefined ? {} : { retryAfterSeconds: Math.ceil(wait / 1_000) };
  if (status === 429 || (status === 403 && LIMITED.test(reasons)))
    return new PollError('RateLimited', `${host} asks to wait: ${said}`, options);
  if (status === 403 && UNSCOPED.test(reasons))
    return new PollError('MissingScope', `the access has not the right to ${right}: ${said}`);
  if (LARGE.test(reasons))
    return new AnswerTooLarge('InvalidAnswer', `${host} refused to give so much: ${said}`);
  if (status === 401 || status === 403)
    return new PollError('Rejected', `${host} refused the access: ${said}`);
  if (status >= 500)
    return new PollError('UpstreamError', `${host} has an error of its own: ${said}`, options);
  if (status === 409 || status === 423)
    return new PollError('UpstreamError', `${host} cannot give it now, as others hold it: ${said}`, options);
  return new PollError('InvalidAnswer', `${host} answered with status ${status}: ${said}`);
}

/** What an error says: to people, and by its codes. */
function toldBy(text: string): { message?: string; reasons: string } {
  const parsed = errorSchema.safeParse(parsedOrNothing(text));
  if (!parsed.success) return { reasons: '' };
  const { code, innerError, message, status, errors = [], details = [] } = parsed.data.error;
  const reasons = [status, code, innerError?.code, ...[...errors, ...details].map(({ reason }) => reason)];
  const closer = innerError?.code === undefined ? '' : ` (${innerError.code})`;
  return { ...(message !== undefined && { message: message + closer }), reasons: reasons.join(' ') };
}

function parsedOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
