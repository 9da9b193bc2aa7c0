/** The synchronous answer: the caller gets what the run's response node defines, or is told why there is none. */
import type { FastifyReply } from 'fastify';
import { isTerminal, type RunPhase } from '../../api/run.ts';
import { closedSignal } from '../closed.ts';
import type { Answers } from '../answers.ts';
import type { GatewayDeps } from '../deps.ts';
import { answerAccepted } from '../outcome.ts';
import { recordedRun } from '../recorded.ts';
import type { Route } from '../routes.ts';
import { waitFor } from '../waiting.ts';
import type { Reply, Submitted } from '../../runs/types.ts';

type Accepted = { route: Route; submitted: Extract<Submitted, { outcome: 'accepted' }> };

/**
 * Headers that a response node may not set: those that belong to the connection, and those that a browser would keep for
 * the whole host, which all projects share.
 */
const WITHHELD = new Set([
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'alt-svc',
  'clear-site-data',
  'service-worker-allowed',
  'set-cookie',
  'strict-transport-security',
]);

/** What the parser of a client would choke on. The response node refuses it; here whoever holds a runner's account may have written. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const HEADER_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/** Statuses without content (RFC 9110, section 6.4.1). */
const WITHOUT_BODY = new Set([204, 205, 304]);

/** Waits as long as the workflow says. A caller that goes away changes nothing for the run. */
export async function answerReply(
  deps: GatewayDeps,
  answers: Answers,
  reply: FastifyReply,
  { route, submitted }: Accepted,
): Promise<void> {
  if (submitted.reply !== undefined) return sendReply(answers, reply, submitted.reply);
  const { run } = submitted;
  const timeoutMs = (route.spec.webhook?.replyTimeoutSeconds ?? 30) * 1_000;
  const signal = closedSignal(reply.raw);
  const waited = await waitFor(deps, route.spec.projectUID, run, { timeoutMs, signal });
  if (signal.aborted) return;
  switch (waited.kind) {
    case 'reply':
      return sendReply(answers, reply, waited.reply);
    case 'ended':
      if (waited.reply !== undefined) return sendReply(answers, reply, waited.reply);
      return answerEnded(answers, reply, run, waited.phase);
    case 'gone': {
      const phase = await recordedPhase(deps, route.namespace, run);
      if (phase === 'unknown') return answers.problem(reply, 'reply-timeout', { run });
      return answerEnded(answers, reply, run, phase);
    }
    case 'timeout':
      return answers.problem(reply, 'reply-timeout', { run });
  }
}

/** The phase in the record of a run that the store has forgotten; `unknown` while the API server is away. */
async function recordedPhase(
  deps: GatewayDeps,
  namespace: string,
  run: string,
): Promise<RunPhase | undefined | 'unknown'> {
  try {
    return (await recordedRun(deps, namespace, run))?.status?.phase;
  } catch (error) {
    deps.log.warn({ err: error }, 'cannot read the record of a run');
    return 'unknown';
  }
}

/** A run that ended without a reply. One of which nothing is left but its name was accepted, and that is all we know. */
function answerEnded(answers: Answers, reply: FastifyReply, run: string, phase: RunPhase | undefined): void {
  if (isTerminal(phase) && phase !== 'Succeeded') answers.problem(reply, 'run-failed', { run });
  else answerAccepted(answers, reply, 200, run);
}

/** What the workflow's author wrote. A browser must not take it for a page of this host. */
function sendReply(
  answers: Answers,
  reply: FastifyReply,
  { status, headers, body, contentType }: Reply,
): void {
  for (const [name, value] of Object.entries(headers)) {
    if (isSendable(name, value)) reply.header(name, value);
  }
  reply.header('x-content-type-options', 'nosniff').header('content-security-policy', 'sandbox');
  answers.send(reply, status, contentType, WITHOUT_BODY.has(status) ? '' : body);
}

function isSendable(name: string, value: unknown): boolean {
  return (
    HEADER_NAME.test(name) &&
    !WITHHELD.has(name.toLowerCase()) &&
    typeof value === 'string' &&
    HEADER_VALUE.test(value)
  );
}
