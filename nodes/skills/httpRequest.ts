/**
 * Skill `http_request`: one request to an HTTP API, over a connection of its own that goes where steps may connect to. It retries
 * nothing: the runner does.
 */
import { request as send, type Dispatcher } from 'undici';
import { StepError } from '../../api/reasons.ts';
import { openDispatcher } from '../egress/connect.ts';
import type { StepContext, StepResult } from '../node.ts';
import { outputOf, readBody, type Received } from './http/answer.ts';
import { authorityFor } from './http/authority.ts';
import { brokenOff, unexpectedStatus } from './http/failure.ts';
import { isExpected, parameters, type Parameters } from './http/parameters.ts';
import { urlRule } from './http/url.ts';
import { mayHaveChanged, redirected, requestOf, withAuthority, type Request } from './http/request.ts';
import type { Mask } from '../secret.ts';
import type { SkillDefinition } from './skill.ts';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export const httpRequest: SkillDefinition<Parameters> = {
  name: 'http_request',
  description: 'Sends a request to an HTTP API and gives its answer.',
  parameters,
  rules: { url: urlRule },
  credentials: ['http', 'oauth2'],
  credentialIsOptional: true,
  // A repeated GET, HEAD, PUT or DELETE does no more than the first (RFC 9110 section 9.2.2); POST and PATCH carry a key.
  effect: 'AtLeastOnce',
  execute,
};

async function execute(
  given: Parameters,
  context: StepContext,
  name: string | undefined,
): Promise<StepResult> {
  const credential = name === undefined ? undefined : await context.credential(name);
  const authority = credential && authorityFor(credential, new URL(given.url));
  const first = requestOf(given, { authority, effectKey: context.effectKey });
  const dispatcher = openDispatcher(context.egress);
  try {
    const { request, received } = await exchange(first, given.followRedirects, { dispatcher, context });
    const secrets = authority?.secrets ?? [];
    if (!isExpected(received.status, given.expect))
      throw await unexpectedStatus(received, request, { effect: context.effect, secrets });
    return await conclude(received, request, { given, context, secrets });
  } finally {
    await dispatcher.destroy();
  }
}

type Sending = { dispatcher: Dispatcher; context: StepContext };

/** Sends the request, and what redirects make of it, until there is an answer. */
async function exchange(
  first: Request,
  redirects: number,
  sending: Sending,
): Promise<{ request: Request; received: Received }> {
  let request = first;
  for (let count = 0; ; count += 1) {
    const received = await sendOne(request, sending);
    const { location } = received.headers;
    if (redirects === 0 || location === undefined || !REDIRECTS.has(received.status))
      return { request, received };
    received.body.on('error', () => undefined).destroy();
    if (count >= redirects)
      throw new StepError(
        'Refused',
        `${first.url.host} redirects more than ${redirects} times: see followRedirects`,
      );
    request = redirected(request, received.status, location);
  }
}

async function sendOne(request: Request, { dispatcher, context }: Sending): Promise<Received> {
  const { url, headers } = withAuthority(request);
  const { method, body = null } = request;
  const { signal } = context;
  try {
    const answer = await send(url, { dispatcher, method, headers, body, signal, reset: true });
    return {
      from: url.host,
      status: answer.statusCode,
      headers: joined(answer.headers),
      body: answer.body,
    };
  } catch (error) {
    throw brokenOff(error, request, context);
  }
}

/** Reads an answer that is a success. What cannot be read of it is no reason to ask for a change once more. */
async function conclude(
  received: Received,
  request: Request,
  { given, context, secrets }: { given: Parameters; context: StepContext; secrets: readonly Mask[] },
): Promise<StepResult> {
  try {
    const bytes = await bodyOf(received, request, { given, context });
    return { output: outputOf(received, bytes, { response: given.response, secrets }) };
  } catch (error) {
    if (!(error instanceof StepError) || error.reason !== 'InvalidAnswer' || !mayHaveChanged(request))
      throw error;
    throw new StepError(error.reason, error.message, { retryable: false });
  }
}

async function bodyOf(
  received: Received,
  request: Request,
  { given, context }: { given: Parameters; context: StepContext },
): Promise<Buffer> {
  // The headers of HEAD speak of a body that does not come.
  if (request.method === 'HEAD') return Buffer.alloc(0);
  try {
    return await readBody(received, given.maxResponseBytes);
  } catch (error) {
    if (error instanceof StepError && !context.signal.aborted) throw error;
    throw brokenOff(error, request, context);
  }
}

function joined(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
}
