/** The synchronous answer: the caller gets what the run's response node defines, or is told why there is none. */
import type { FastifyReply } from 'fastify';
import { isHeaderName, isHeaderValue, isWithheldHeader } from '../../api/headers.ts';
import type { TerminalPhase } from '../../api/phase.ts';
import { disconnectSignal } from '../http/response.ts';
import type { Answers } from '../http/answers.ts';
import type { GatewayDeps } from '../endpoint/deps.ts';
import { answerAccepted, waitForRun } from '../endpoint/submission.ts';
import type { Route } from '../routing/table.ts';
import type { Waited } from '../../runs/reply.ts';
import type { Reply, Submitted } from '../../runs/types.ts';

type Waiting = Pick<GatewayDeps, 'waiter' | 'open'>;
type Accepted = { route: Route; submitted: Extract<Submitted, { outcome: 'accepted' }> };

/** Statuses without content (RFC 9110, section 6.4.1). */
const WITHOUT_BODY = new Set([204, 205, 304]);

/**
 * WaiterLimit as long as the workflow says. A caller that goes away changes nothing for the run. What the run store no longer
 * knows is not looked up elsewhere: anybody may call, so that the API server would be asked as often as they like.
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
 * Whether the run of a repeated request has left the run store already, which keys outlive by days: it ended, and without
 * a reply, since that would be with the key. How it ended only its record tells, so the answer is the noncommittal 202.
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
      // It was there when the wait began: the store was wiped, or could not be reached while the run ended.
      return answers.problem(reply, 'outcome-unknown', { run });
    case 'timeout':
      return answers.problem(reply, 'reply-timeout', { run });
  }
}

/** Of a run that ended without a reply. */
function answerEnd(answers: Answers, reply: FastifyReply, run: string, phase: TerminalPhase): void {
  if (phase === 'Succeeded') answerAccepted(answers, reply, 200, run);
  else answers.problem(reply, 'run-failed', { run });
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

/** The response node refuses what cannot be sent; here whoever holds a runner's account may have written. */
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
