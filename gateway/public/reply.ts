/** The synchronous answer of a webhook with a response node. */
import type { FastifyReply } from 'fastify';
import { isHeaderName, isHeaderValue, isWithheldHeader } from '../../api/headers.ts';
import type { TerminalPhase } from '../../api/phase.ts';
import { disconnectSignal } from '../http/response.ts';
import type { Answers } from '../http/answers.ts';
import type { GatewayDeps } from '../endpoint/deps.ts';
import { answerAccepted, waitForRun } from '../endpoint/submission.ts';
import type { Route } from '../routing/table.ts';
import type { Waited } from '../../runs/reply.ts';
import type { Reply } from '../../runs/types/result.ts';
import type { Submitted } from '../../runs/types/submission.ts';

type Waiting = Pick<GatewayDeps, 'waiter' | 'open'>;
type Accepted = { route: Route; submitted: Extract<Submitted, { outcome: 'accepted' }> };

/** Statuses without content (RFC 9110, section 6.4.1). */
const WITHOUT_BODY = new Set([204, 205, 304]);

/**
 * Waits as long as the workflow says. A caller that disconnects does not affect the run. Runs that left the
 * run store are not looked up elsewhere: anonymous calls must not cause requests to the API server.
 */
export async function answerReply(
  deps: Waiting,
  answers: Answers,
  reply: FastifyReply,
  { route, submitted }: Accepted,
): Promise<void> {
  if (submitted.reply !== undefined) return sendReply(answers, reply, submitted.reply);
  const { run, ended } = submitted;
  if (ended !== undefined) return answerEnd(answers, reply, run, ended);
  const { projectUID, webhook } = route.spec;
  const signal = disconnectSignal(reply.raw);
  if (submitted.duplicate && (await hasLeftRunStore(deps, { project: projectUID, run, signal }))) {
    return answerAccepted(answers, reply, 202, run);
  }
  const timeoutMs = (webhook?.replyTimeoutSeconds ?? 30) * 1_000;
  const waited = await waitForRun(deps, projectUID, run, { timeoutMs, signal });
  if (signal.aborted) return;
  answerWaited(answers, reply, run, waited);
}

/**
 * Whether the run of a repeated request has left the run store, which keys outlive by days. It ended without
 * a reply, which would be stored with the key. Only its record says how it ended, so the answer is 202.
 */
async function hasLeftRunStore(
  deps: Waiting,
  { project, run, signal }: { project: string; run: string; signal: AbortSignal },
): Promise<boolean> {
  const found = await waitForRun(deps, project, run, { timeoutMs: 0, signal });
  return found.kind === 'gone';
}

function answerWaited(answers: Answers, reply: FastifyReply, run: string, waited: Waited): void {
  switch (waited.kind) {
    case 'reply':
      return sendReply(answers, reply, waited.reply);
    case 'ended':
      if (waited.reply !== undefined) return sendReply(answers, reply, waited.reply);
      return answerEnd(answers, reply, run, waited.phase);
    case 'gone':
      // The run store had the run when the wait began: it was wiped, or unavailable while the run ended.
      return answers.problem(reply, 'outcome-unknown', { run });
    case 'timeout':
      return answers.problem(reply, 'reply-timeout', { run });
  }
}

/** Answers for a run that ended without a reply. */
function answerEnd(answers: Answers, reply: FastifyReply, run: string, phase: TerminalPhase): void {
  if (phase === 'Succeeded') answerAccepted(answers, reply, 200, run);
  else answers.problem(reply, 'run-failed', { run });
}

/** Sends the author's reply. Browsers must not treat it as a page of this host. */
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

/** The response node refuses invalid headers, but anyone with a runner's account could store them. */
function isSendable(name: string, value: unknown): boolean {
  const lower = name.toLowerCase();
  return (
    isHeaderName(name) &&
    lower !== 'content-type' &&
    !isWithheldHeader(lower) &&
    typeof value === 'string' &&
    isHeaderValue(value)
  );
}
