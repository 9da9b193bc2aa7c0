/** Calls of JSON APIs: sends JSON, and reads the answer as JSON within a bound. */
import type * as z from 'zod';
import { parseOrUndefined } from '../../api/parseOrUndefined.ts';
import { isHeaderValue } from '../../api/headers.ts';
import { StepError } from '../../api/reasons.ts';
import type { Secret } from '../contract/secret.ts';
import { readStart, readUpTo, tooLarge, unreadable } from './body.ts';
import { send } from './client.ts';
import type { Failure } from '../contract/failure.ts';
import { at, type HttpAnswer, type HttpRequest } from './request.ts';
import type { Wire } from '../contract/node.ts';
import { joinURL } from './url.ts';

export type JsonCall = Omit<HttpRequest, 'origin' | 'path'> & {
  url: URL;
  /** Sent as JSON, in place of `body`. */
  json?: unknown;
  /** Bytes that the answer may have, uncompressed. */
  limit: number;
};

/** `json`: the body; undefined where it is not JSON. */
export type JsonAnswer = HttpAnswer & { json: unknown };

const ERROR_LIMIT = 65_536;

/**
 * Sends one call. Every status is an answer.
 * @throws Failure; `TooLarge` for a success of more than `limit` bytes
 */
export async function callJson(
  { url, json, limit, headers, ...call }: JsonCall,
  wire: Wire,
): Promise<JsonAnswer> {
  const request: HttpRequest = {
    ...call,
    ...at(url),
    headers: {
      accept: 'application/json',
      ...(json !== undefined && { 'content-type': 'application/json; charset=utf-8' }),
      ...headers,
    },
    isCompressible: true,
    ...(json !== undefined && { body: JSON.stringify(json) }),
  };
  const answer = await send(request, wire);
  const isSuccess = answer.status < 300;
  const bytes = isSuccess ? await readUpTo(answer, limit) : await readStart(answer, ERROR_LIMIT);
  if (!bytes) throw tooLarge(answer, limit);
  return { ...answer, json: parseOrUndefined(bytes.toString('utf8')) };
}

/** An account at an API that takes an access token. */
export type Account = { baseURL: string; token: Secret; wire: Wire };

/**
 * The header that shows the token. Throws a StepError `CredentialRejected` for one that no header can hold.
 */
export function bearerOf(token: Secret, what = 'access token'): string {
  if (isHeaderValue(token.reveal())) return `Bearer ${token.reveal()}`;
  throw new StepError('CredentialRejected', `the ${what} holds a character that headers cannot hold`);
}

type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * The URL of a path of the API.
 * @throws StepError `InvalidParameters` for an `apiURL` that is not a URL
 */
export function apiURL(baseURL: string, path: string, query: Query = {}): URL {
  const url = joinURL(baseURL, `/${path}`);
  if (!url) throw new StepError('InvalidParameters', 'apiURL of the credential is not a URL: correct it');
  for (const [name, value] of Object.entries(query))
    for (const each of [value ?? []].flat()) url.searchParams.append(name, each);
  return url;
}

export type AccountCall<T> = Partial<Pick<JsonCall, 'method' | 'headers' | 'json' | 'body'>> & {
  path: string;
  query?: Query;
  schema: z.ZodType<T>;
  limit: number;
  /** What the account may not do where the access lacks a scope, such as "read mail". */
  right: string;
  /** The statuses that mean that there is no such thing. Default: none. */
  absent?: readonly number[];
};

/** The failure of an answer that is not a success. */
export type Judge = (answer: JsonAnswer, account: Account, right: string) => Failure;

/**
 * The answer to a call of the account's API; undefined for one of the `absent` statuses.
 * @throws Failure, StepError
 */
export async function callAccount<T>(
  account: Account,
  { path, query, schema, right, absent = [], headers, method = 'GET', ...call }: AccountCall<T>,
  judge: Judge,
): Promise<T | undefined> {
  const url = apiURL(account.baseURL, path, query);
  const authorization = bearerOf(account.token);
  const answer = await callJson(
    { ...call, method, url, headers: { ...headers, authorization } },
    account.wire,
  );
  if (absent.includes(answer.status)) return undefined;
  if (answer.status !== 200 && answer.status !== 201) throw judge(answer, account, right);
  const parsed = schema.safeParse(answer.json);
  if (parsed.success) return parsed.data;
  throw unreadable(answer);
}
