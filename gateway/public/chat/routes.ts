/**
 * `GET /chat/{id}`: the page of a chat. `POST /chat/{id}/messages`: receives one message, stores it as the
 * event of a run, and answers with the reply of the run. There are no cookies: a session is a token that its
 * owner sends in a header.
 */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { CHAT_PREFIX } from '../../../api/chat.ts';
import { noteRun, openMessage, type ChatSession } from '../../../runs/chat.ts';
import type { Submitted } from '../../../runs/types/submission.ts';
import { isUnavailable } from '../../../store/connection.ts';
import { OPERATIONS } from '../../contract/operations.ts';
import type { ProblemCode } from '../../contract/problems.ts';
import type { GatewayDeps } from '../../endpoint/deps.ts';
import { eventHash } from '../../endpoint/event.ts';
import { addRoute } from '../../endpoint/route.ts';
import { refuseSubmission, submitEvent } from '../../endpoint/submission.ts';
import { createAnswers, type Answers, type Exchange } from '../../http/answers.ts';
import { isTooLargeEvent } from '../../limits/limits.ts';
import type { Route } from '../../routing/table.ts';
import { routePath } from '../../contract/operation.ts';
import { addPushRoute, type Pushed } from '../push.ts';
import { answerJson, answerStream } from './answer.ts';
import { messageInput, prefersJson, readMessage, readSession, type Message } from './message.ts';
import { sendChatPage } from './page.ts';

const MESSAGES = '/messages';

export function addChatRoutes(app: FastifyInstance, deps: GatewayDeps): void {
  const answers = createAnswers(deps, 'chat');
  const handle = (exchange: Exchange) => showPage(deps, answers, exchange);
  addRoute(app, answers, routePath(OPERATIONS.openChat), { GET: { handle } });
  addPushRoute(app, deps, {
    prefix: CHAT_PREFIX,
    kind: 'chat',
    find: (key) => (key.endsWith(MESSAGES) ? deps.routes.chat(key.slice(0, -MESSAGES.length)) : undefined),
    receive: (pushAnswers, pushed) => receive(deps, pushAnswers, pushed),
  });
}

async function showPage(deps: GatewayDeps, answers: Answers, { request, reply }: Exchange): Promise<void> {
  const { chat: id } = request.params as { chat: string };
  const route = deps.routes.chat(id);
  const { chat } = route?.spec ?? {};
  if (!route || !chat) return answers.problem(reply, deps.health.synced() ? 'not-found' : 'not-ready');
  deps.accessLog?.note(request.raw, { workflow: route.id });
  sendChatPage(answers, reply, chat);
}

async function receive(
  deps: GatewayDeps,
  answers: Answers,
  { route, request, reply, body, reservation }: Pushed,
): Promise<void> {
  const { spec } = route;
  const session = readSession(request.raw, spec.workflowUID);
  if (typeof session === 'string') return answers.problem(reply, session);
  const message = readMessage(body, deps.limits.json);
  if (typeof message === 'string') return answers.problem(reply, message);
  if (isRefused(deps, answers, { request, reply }, { route, session: session.name })) return;
  const submitted = await accept(deps, route, session.name, message);
  // A caller that waits for the run reserves no memory.
  reservation.release();
  if (typeof submitted === 'string') return answers.problem(reply, submitted, RETRY_AFTER[submitted] ?? {});
  if (submitted.outcome !== 'accepted') return refuse(answers, reply, submitted);
  const accepted = { route, submitted, token: session.token };
  if (prefersJson(request.raw.headers.accept)) await answerJson(deps, answers, reply, accepted);
  else await answerStream(deps, answers, reply, accepted);
}

const RETRY_AFTER: Partial<Record<ProblemCode, { retryAfter: number }>> = {
  'run-store-unavailable': { retryAfter: 1 },
};

/**
 * Counts the message, and then the caller that waits for its answer, for session, client and project; true if
 * there are too many, with the answer sent.
 */
function isRefused(
  { limits }: Pick<GatewayDeps, 'limits'>,
  answers: Answers,
  { request: { raw }, reply }: Exchange,
  { route, session: name }: { route: Route; session: string },
): boolean {
  const session = `${route.id} ${name}`;
  const address = limits.addresses.clientOf(raw.socket.remoteAddress, raw.headers['x-forwarded-for']);
  const tooMany = limits.chat.ofMessage(session, address, performance.now());
  if (tooMany !== undefined) {
    limits.refused[tooMany.reason] += 1;
    answers.refuse(reply, 'too-many-requests', { retryAfter: tooMany.retryAfter });
    return true;
  }
  const mayWait =
    limits.waiterLimit.enter(route.spec.projectUID, reply.raw) &&
    limits.chatAnswers.enter(session, address, reply.raw);
  if (!mayWait) answers.refuse(reply, 'too-many-waiting');
  return !mayWait;
}

/** Stores the message, unless another one of its session is open. */
async function accept(
  deps: GatewayDeps,
  { spec }: Route,
  session: string,
  message: Message,
): Promise<Submitted | ProblemCode> {
  const input = messageInput(message, session);
  if (isTooLargeEvent(input)) return 'event-too-large';
  const { projectUID: project, workflow, workflowUID: workflowUid, revision } = spec;
  const of: ChatSession = { project, workflow, workflowUid, session };
  const opened = await openMessage(deps.runs, of, message.id);
  if (isUnavailable(opened)) return 'run-store-unavailable';
  if (opened.outcome === 'open') return 'message-open';
  const startedAt = performance.now();
  const submitted = await submitEvent(deps, {
    project,
    workflow,
    workflowUid,
    revision,
    run: opened.run,
    trigger: 'chat',
    test: false,
    input,
    dedupeKey: `chat/${session}/${message.id}`,
    bodyHash: eventHash({ trigger: 'chat', test: false, text: message.text }),
  });
  deps.metrics.acceptSeconds.observe((performance.now() - startedAt) / 1_000);
  await noteOutcome(deps, of, message.id, { planned: opened.run, submitted });
  return submitted;
}

/** Keeps the session in line with the run store: a repeated message has its first run, a refused one none. */
async function noteOutcome(
  { runs }: Pick<GatewayDeps, 'runs'>,
  of: ChatSession,
  message: string,
  { planned, submitted }: { planned: string; submitted: Submitted },
): Promise<void> {
  // Whether an event was stored may be unknown: the session stays as it is for a moment.
  if (submitted.outcome === 'unavailable' && submitted.why !== 'full') return;
  const hasRun = submitted.outcome === 'accepted' || submitted.outcome === 'conflict';
  const run = hasRun ? submitted.run : '';
  if (run !== planned) await noteRun(runs, of, message, run);
}

function refuse(
  answers: Answers,
  reply: FastifyReply,
  submitted: Exclude<Submitted, { outcome: 'accepted' }>,
): void {
  if (submitted.outcome === 'conflict') answers.problem(reply, 'message-id-reused');
  else refuseSubmission(answers, reply, submitted, 'not-found');
}
