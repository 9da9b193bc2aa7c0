/** The request of a step, ready to be sent; and what of it is sent after a redirect, by the rules of fetch. */
import { createHash } from 'node:crypto';
import { toText } from '../../../api/expression/evaluate.ts';
import { StepError } from '../../../api/reasons.ts';
import type { Authority } from './authority.ts';
import { queryTexts, SAFE_METHODS, urlProblem, type Method, type Parameters } from './parameters.ts';

/**
 * A request. `authority` is what the credential adds, as long as the request stays with its first origin. `afterChange`: it asks for
 * a page to which a server redirected that was asked for a change, and that has made it by then, as a rule.
 */
export type Request = {
  method: Method;
  url: URL;
  headers: Readonly<Record<string, string>>;
  body?: string;
  authority?: Authority;
  afterChange?: true;
};

/** The methods that a server may take to mean something new each time (RFC 9110 section 9.2.2), so that they carry a key. */
const WITH_KEY: ReadonlySet<Method> = new Set(['POST', 'PATCH']);
const LONGEST_KEY = 255;
/** What goes along to another origin: all else may be meant for the first one alone. */
const FOR_ANYBODY = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'content-type',
  'idempotency-key',
  'user-agent',
]);
const FORM = 'application/x-www-form-urlencoded';

/**
 * The first request of a step.
 * @throws StepError `InvalidParameters` when the step sets what its credential sets too
 */
export function requestOf(
  { method, url: text, query = {}, headers: given = {}, body, contentType }: Parameters,
  { authority, effectKey }: { authority: Authority | undefined; effectKey: string },
): Request {
  const url = new URL(text);
  url.hash = '';
  for (const [name, value] of Object.entries(query)) {
    for (const each of queryTexts(value)) addToQuery(url, name, each);
  }
  const own = Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]));
  const type =
    contentType ??
    own['content-type'] ??
    (typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json');
  const headers = {
    accept: '*/*',
    'user-agent': 'Windlass',
    ...(WITH_KEY.has(method) && { 'idempotency-key': keyOf(effectKey) }),
    ...own,
    'accept-encoding': 'gzip, deflate, br',
    ...(body !== undefined && { 'content-type': type }),
  };
  if (authority) refuseConflict(authority, own, url);
  return {
    method,
    url,
    headers,
    ...(body !== undefined && { body: bodyText(body, type) }),
    ...(authority && { authority }),
  };
}

/** Whether something may be another way than before when the request was sent. */
export function mayHaveChanged({ method, afterChange }: Request): boolean {
  return !SAFE_METHODS.has(method) || afterChange === true;
}

/** The request with what the credential adds, as it goes out. */
export function withAuthority({ url, headers, authority }: Request): Pick<Request, 'url' | 'headers'> {
  if (!authority) return { url, headers };
  const { to, name, value } = authority.add;
  if (to === 'headers') return { url, headers: { ...headers, [name]: value.reveal() } };
  const extended = new URL(url);
  // A redirect may lead to a URL that has it already.
  if (!extended.searchParams.has(name)) addToQuery(extended, name, value.reveal());
  return { url: extended, headers };
}

/**
 * What follows on a redirect (Fetch Standard, "HTTP-redirect fetch"). To another origin no credential goes, nor does it come back.
 * @throws StepError `InvalidAnswer` or `Refused` for a place that nothing can be requested from
 */
export function redirected(request: Request, status: number, location: string): Request {
  const url = targetOf(request, location);
  const becomesGet =
    status === 303 ? !SAFE_METHODS.has(request.method) : status < 303 && request.method === 'POST';
  const { body, authority, ...rest } = request;
  const isSameOrigin = url.origin === request.url.origin;
  const headers = Object.entries(request.headers).filter(
    ([name]) =>
      (isSameOrigin || FOR_ANYBODY.has(name)) &&
      !(becomesGet && (name.startsWith('content-') || name === 'idempotency-key')),
  );
  return {
    ...rest,
    url,
    method: becomesGet ? 'GET' : request.method,
    headers: Object.fromEntries(headers),
    ...(body !== undefined && !becomesGet && { body }),
    ...(authority && isSameOrigin && { authority }),
    ...(becomesGet && { afterChange: true }),
  };
}

/** Leaves what stands in the query as it is written: some servers compare it with a signature. */
function addToQuery(url: URL, name: string, value: string): void {
  const pair = `${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
  url.search = url.search === '' ? pair : `${url.search}&${pair}`;
}

function targetOf({ url }: Request, location: string): URL {
  if (!URL.canParse(location, url.href))
    throw new StepError('InvalidAnswer', `${url.host} redirects to what is no URL`, { retryable: false });
  const target = new URL(location, url);
  target.hash = '';
  const problem = urlProblem(target.href);
  if (problem === undefined) return target;
  throw new StepError('Refused', `${url.host} redirects to a URL that is not followed: it ${problem}`);
}

function refuseConflict({ add }: Authority, headers: Record<string, string>, url: URL): void {
  const isTaken = add.to === 'headers' ? Object.hasOwn(headers, add.name) : url.searchParams.has(add.name);
  if (!isTaken) return;
  throw new StepError(
    'InvalidParameters',
    `${add.to}: ${add.name} is set by the credential: remove it from the parameters`,
  );
}

function bodyText(body: unknown, type: string): string {
  const isForm = type.split(';', 1)[0]?.trim().toLowerCase() === FORM;
  if (!isForm || typeof body !== 'object' || body === null || Array.isArray(body)) return toText(body);
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
