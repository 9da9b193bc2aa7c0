/** Redirects by the rules of fetch (Fetch Standard, "HTTP-redirect fetch"). */
import { Failure } from '../contract/failure.ts';
import { at, SAFE_METHODS, type HttpRequest } from './request.ts';
import { urlProblem } from './url.ts';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Headers that go to another origin: all others may be meant for the first one alone. */
const FOR_ANY_ORIGIN = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'content-type',
  'idempotency-key',
  'user-agent',
]);

export function isRedirect(status: number): boolean {
  return REDIRECTS.has(status);
}

/**
 * The request that follows a redirect. The login goes to no other origin, and does not come back.
 * @throws Failure `InvalidAnswer` or `Refused` for a location that cannot be requested
 */
export function redirected(request: HttpRequest, status: number, location: string): HttpRequest {
  const url = targetOf(request, location);
  const { method, body, login, headers = {}, ...rest } = request;
  const becomesGet = status === 303 ? !SAFE_METHODS.has(method) : status < 303 && method === 'POST';
  const isSameOrigin = url.origin === request.origin;
  const kept = Object.entries(headers).filter(
    ([name]) =>
      (isSameOrigin || FOR_ANY_ORIGIN.has(name)) &&
      !(becomesGet && (name.startsWith('content-') || name === 'idempotency-key')),
  );
  return {
    ...rest,
    ...at(url),
    method: becomesGet ? 'GET' : method,
    headers: Object.fromEntries(kept),
    ...(body !== undefined && !becomesGet && { body }),
    ...(login && isSameOrigin && { login }),
    ...(becomesGet && { afterChange: true }),
  };
}

function targetOf({ origin, path, mayRedirect }: HttpRequest, location: string): URL {
  const base = new URL(origin + path);
  if (!URL.canParse(location, base.href))
    throw new Failure('InvalidAnswer', `${base.host} redirects to an invalid URL`, { isPermanent: true });
  const target = new URL(location, base.href);
  target.hash = '';
  const problem = urlProblem(target.href);
  if (problem !== undefined)
    throw new Failure('Refused', `${base.host} redirects to a URL that is not followed: it ${problem}`);
  if (mayRedirect && !mayRedirect(base, target))
    throw new Failure(
      'Refused',
      `${base.host} redirects to ${target.origin}, which is not followed: a tool of an agent follows redirects within the origin of its url, or to what modelMaySet admits`,
    );
  return target;
}
