/** Builds the first request of a step of `http_request`. */
import { createHash } from 'node:crypto';
import { toText } from '../../../api/expression/evaluate.ts';
import { isRecord } from '../../../api/record.ts';
import { StepError } from '../../../api/reasons.ts';
import type { StepContext } from '../../contract/node.ts';
import type { Authority } from '../../providers/http/authority.ts';
import { at, type HttpRequest, type Method } from '../../http/request.ts';
import { addToQuery, queryOf } from '../../http/url.ts';
import { queryTexts, type Parameters } from './parameters.ts';

/**
 * The methods that a server may take to mean something new each time (RFC 9110 section 9.2.2), so that they
 * carry a key.
 */
const WITH_KEY: ReadonlySet<Method> = new Set(['POST', 'PATCH']);
const LONGEST_KEY = 255;
const FORM = 'application/x-www-form-urlencoded';

/**
 * The first request of a step.
 * @throws StepError `InvalidParameters` when the step sets what its credential sets too
 */
export function requestOf(
  { method, url, query = {}, headers: given = {}, body, contentType, followRedirects }: Parameters,
  {
    authority,
    effectKey,
    mayRedirect,
  }: { authority: Authority | undefined } & Pick<StepContext, 'effectKey' | 'mayRedirect'>,
): HttpRequest {
  const { origin, path: first } = at(new URL(url));
  const added = Object.entries(query).flatMap(([name, value]) =>
    queryTexts(value).map((each) => [name, each] as const),
  );
  const path = added.reduce((before, [name, value]) => addToQuery(before, name, value), first);
  const own = Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]));
  const type =
    contentType ??
    own['content-type'] ??
    (typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json');
  const headers = {
    accept: '*/*',
    ...(WITH_KEY.has(method) && { 'idempotency-key': keyOf(effectKey) }),
    ...own,
    ...(body !== undefined && { 'content-type': type }),
  };
  if (authority) refuseConflict(authority, own, path);
  return {
    method,
    origin,
    path,
    headers,
    redirects: followRedirects,
    ...(mayRedirect && { mayRedirect }),
    isCompressible: true,
    isAlone: true,
    ...(body !== undefined && { body: bodyText(body, type) }),
    ...(authority && { login: authority.login }),
  };
}

function refuseConflict(
  { login: { to, name } }: Authority,
  headers: Record<string, string>,
  path: string,
): void {
  const isTaken = to === 'headers' ? Object.hasOwn(headers, name) : queryOf(path).has(name);
  if (!isTaken) return;
  throw new StepError(
    'InvalidParameters',
    `${to}: ${name} is set by the credential: remove it from the parameters`,
  );
}

function bodyText(body: unknown, type: string): string {
  const isForm = type.split(';', 1)[0]?.trim().toLowerCase() === FORM;
  if (!isForm || !isRecord(body)) return toText(body);
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(body)) {
    for (const each of [value].flat()) if (each !== null) form.append(name, toText(each));
  }
  return form.toString();
}

/** Servers keep keys of up to 255 characters. */
function keyOf(effectKey: string): string {
  return effectKey.length <= LONGEST_KEY ? effectKey : createHash('sha256').update(effectKey).digest('hex');
}
