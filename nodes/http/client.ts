/**
 * The outbound HTTP client of steps, polls and credential checks. Every connection goes through the egress,
 * also after a redirect. A request is sent once. Every failure is a Failure, which knows whether the provider
 * may have done what was asked.
 */
import { dispatcherThrough, openDispatcher } from '../egress/connect.ts';
import { quoted, type Mask } from '../contract/secret.ts';
import { drop } from './body.ts';
import { connectionFailure, Failure, type Asked, type FailureKind } from '../contract/failure.ts';
import { isRedirect, redirected } from './redirect.ts';
import { SAFE_METHODS, type HttpAnswer, type HttpRequest } from './request.ts';
import type { Wire } from '../contract/node.ts';
import { retryAfterMs } from './retryAfter.ts';
import { addToQuery, queryOf } from './url.ts';

/**
 * Sends the request, and follows as many redirects as it admits.
 * @throws Failure
 */
export async function send(request: HttpRequest, wire: Wire): Promise<HttpAnswer> {
  const { redirects = 0 } = request;
  let current = request;
  for (let count = 0; ; count += 1) {
    const answer = await sendOne(current, wire);
    const { location } = answer.headers;
    if (redirects === 0 || location === undefined || !isRedirect(answer.status)) return answer;
    drop(answer);
    if (count >= redirects)
      throw new Failure('Refused', `${new URL(request.origin).host} redirects more than ${redirects} times`);
    current = redirected(current, answer.status, location);
  }
}

async function sendOne(request: HttpRequest, { egress, signal }: Wire): Promise<HttpAnswer> {
  const { method, origin, body = null, isCompressible = false, isAlone = false } = request;
  const { host } = new URL(origin);
  const afterChange = request.afterChange === true;
  const asked: Asked = { host, signal, afterChange, mayChange: afterChange || !SAFE_METHODS.has(method) };
  if (signal.aborted)
    throw new Failure('Stopped', 'the request was stopped', { isInDoubt: afterChange, cause: signal.reason });
  const dispatcher = await (isAlone ? openDispatcher(egress) : dispatcherThrough(egress));
  const close = () => {
    if (isAlone) void dispatcher.destroy();
  };
  try {
    const { path, headers } = withLogin(request);
    const answer = await dispatcher.request({ origin, path, method, headers, body, signal, reset: isAlone });
    answer.body.once('close', close);
    return {
      host,
      status: answer.statusCode,
      headers: joined(answer.headers),
      body: answer.body,
      request,
      isCompressible,
      asked,
    };
  } catch (error) {
    close();
    throw connectionFailure(error, asked);
  }
}

function withLogin(request: HttpRequest): { path: string; headers: Record<string, string> } {
  const { path, login, isCompressible } = request;
  const headers = {
    'user-agent': 'Windlass',
    ...(isCompressible && { 'accept-encoding': 'gzip, deflate, br' }),
    ...request.headers,
  };
  if (!login) return { path, headers };
  const { to, name, value } = login;
  if (to === 'headers') return { path, headers: { ...headers, [name]: value.reveal() } };
  // A redirect may lead to a URL that has it already.
  return { path: queryOf(path).has(name) ? path : addToQuery(path, name, value.reveal()), headers };
}

function joined(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const entries = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name.toLowerCase(), [value].flat().join(', ')]],
  );
  return Object.assign(Object.create(null) as object, Object.fromEntries(entries)) as Record<string, string>;
}

/** What a provider says of a request that it refused: text of others, and the secrets to mask in it. */
export type Said = {
  text: string | undefined;
  secrets: readonly Mask[];
  /** Where the provider says in the body how long to wait. */
  retryAfterMs?: number | undefined;
};

/**
 * The failure of an answer whose status is not a success. `problem` is completed with what the provider said.
 * Where the provider broke down over a change, or was redirected to after one, the effect is in doubt.
 */
export function statusFailure(
  { status, headers, asked }: HttpAnswer,
  kind: FailureKind,
  problem: string,
  said: Said,
): Failure {
  const text = quoted(said.text ?? `status ${status}`, said.secrets);
  return new Failure(kind, text === '' ? problem : `${problem}: ${text}`, {
    status,
    retryAfterMs: said.retryAfterMs ?? retryAfterMs(headers),
    isInDoubt: asked.afterChange || (kind === 'UpstreamError' && asked.mayChange),
  });
}

/** The kind of failure that a status means at every provider, and the problem in words. */
export function meaningOf({ status, host }: Pick<HttpAnswer, 'status' | 'host'>): [FailureKind, string] {
  if (status === 429) return ['RateLimited', `${host} limits the rate of requests`];
  if (status === 401) return ['Rejected', `${host} refused the credential`];
  if (status === 403) return ['Forbidden', `${host} refused the request`];
  if (status === 408 || status >= 500) return ['UpstreamError', `${host} failed`];
  return ['Refused', `${host} refused the request`];
}
