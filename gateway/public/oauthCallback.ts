/**
 * `GET /oauth/callback`: receives the provider's answer from the browser. It counts once, only from the
 * browser that started, and only from the provider that was asked. The code is sealed for the operator: the
 * gateway has neither the client secret nor tokens.
 */
import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { isUnavailable } from '../../store/connection.ts';
import { seal } from '../../store/oauth/seal.ts';
import {
  hashOf,
  isSecret,
  storeCode,
  readKey,
  SEALED_FOR,
  takeState,
  type Code,
  type State,
} from '../../store/oauth/states.ts';
import { createAnswers, type Answers, type Exchange } from '../http/answers.ts';
import { OPERATIONS } from '../contract/operations.ts';
import type { GatewayDeps } from '../endpoint/deps.ts';
import { setCookieHeader, cookieName, verifierOf } from './connect.ts';
import { sendPage, type PageCode } from './page.ts';
import { addEndpoints } from '../endpoint/route.ts';

export function addOAuthCallbackRoute(app: FastifyInstance, deps: GatewayDeps): void {
  const answers = createAnswers(deps, 'connect');
  addEndpoints(app, deps, answers, [
    { operation: OPERATIONS.finishConnect, handle: (exchange) => receive(deps, answers, exchange) },
  ]);
}

/** Members of the answer (RFC 6749, section 4.1.2; RFC 9207, section 2). */
type Answer = { state: string; code?: string; error?: string; iss?: string };

async function receive(
  deps: GatewayDeps,
  answers: Answers,
  { request: { raw }, reply }: Exchange,
): Promise<void> {
  const { runs, publicURL } = deps;
  const answer = answerOf(raw.url ?? '');
  if (answer === undefined) return sendPage(answers, reply, 'state-unknown');
  // Before the state is used up, so that the page can be reloaded.
  const key = await readKey(runs);
  if (key === undefined || isUnavailable(key)) return sendPage(answers, reply, 'unavailable');
  const taken = await takeState(runs, answer.state);
  if (isUnavailable(taken)) return sendPage(answers, reply, 'unavailable');
  if (taken.outcome === 'none') return sendPage(answers, reply, 'state-unknown');
  const state = taken.value;
  reply.header('set-cookie', setCookieHeader(publicURL, answer.state, '', 0));
  const cookie = cookieOf(raw.headers.cookie, cookieName(publicURL, answer.state));
  const refusal = refusalOf(answer, state, cookie);
  const credential = `${state.namespace}/${state.name}`;
  if (refusal === 'other-browser') return sendPage(answers, reply, refusal);
  if (refusal !== undefined) return sendPage(answers, reply, refusal, credential);
  const { browser: _browser, ...connecting } = state;
  const { code = '', iss } = answer;
  const verifier = verifierOf(cookie ?? '', answer.state);
  const told: Code = {
    ...connecting,
    code,
    verifier,
    state: answer.state,
    ...(iss !== undefined && { answeredBy: iss }),
  };
  const left = await storeCode(runs, await seal(key, JSON.stringify(told), SEALED_FOR));
  sendPage(answers, reply, left.outcome === 'kept' ? 'connecting' : 'not-taken', credential);
}

/** Undefined without a valid state, or if a member is repeated. */
function answerOf(url: string): Answer | undefined {
  const { searchParams } = new URL(url, 'http://callback');
  const [state, code, error, iss] = ['state', 'code', 'error', 'iss'].map((name) =>
    searchParams.getAll(name),
  );
  if ([state, code, error, iss].some((values) => (values?.length ?? 0) > 1)) return undefined;
  const [first] = state ?? [];
  if (!isSecret(first)) return undefined;
  return {
    state: first,
    ...(code?.[0] !== undefined && { code: code[0] }),
    ...(error?.[0] !== undefined && { error: error[0] }),
    ...(iss?.[0] !== undefined && { iss: iss[0] }),
  };
}

/** Why the answer is refused for this state. */
function refusalOf(
  { code, error, iss }: Answer,
  { browser, issuer, mustNameIssuer }: State,
  cookie: string | undefined,
): PageCode | undefined {
  if (cookie === undefined || !isSame(hashOf(cookie), browser)) return 'other-browser';
  if (iss === undefined ? mustNameIssuer : iss !== issuer) return 'other-issuer';
  if (error === 'access_denied') return 'denied';
  if (error !== undefined || code === undefined || code === '') return 'failed';
  return undefined;
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** The value of the only cookie with that name; undefined if there is none or several. */
function cookieOf(header: string | undefined, name: string): string | undefined {
  const values = (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  return values.length === 1 ? values[0] : undefined;
}
