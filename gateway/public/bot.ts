/**
 * `POST /bot/{namespace}.{credential}`: receives updates of a messaging service. A message is one event,
 * stored before the answer. Everything else gets 200, since services repeat refused updates and delay later
 * ones. The answer comes within a second, since services also repeat slow updates; a repeated message is the
 * same run.
 */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { BOT_PREFIX } from '../../api/bot.ts';
import { parseJson } from '../../api/json.ts';
import { isWanted } from '../../nodes/messages/received.ts';
import type { ReceivedMessage } from '../../nodes/contract/messenger.ts';
import { readerFor } from '../../nodes/providers/register.ts';
import type { Submitted } from '../../runs/types/submission.ts';
import { JSON_TYPE, type Answers } from '../http/answers.ts';
import type { GatewayDeps } from '../endpoint/deps.ts';
import { isTooLargeEvent } from '../limits/limits.ts';
import { answerAccepted, refuseSubmission, submitEvent } from '../endpoint/submission.ts';
import type { Route } from '../routing/table.ts';
import { addPushRoute, type Pushed } from './push.ts';

const TEXT_TYPE = 'text/plain; charset=utf-8';
/** Slack waits three seconds in all, including the network. */
const LONGEST_MS = 900;
const LATER: Submitted = { outcome: 'unavailable', why: 'connection', retryAfterSeconds: 1 };

export function addBotRoute(app: FastifyInstance, deps: GatewayDeps): void {
  addPushRoute(app, deps, {
    prefix: BOT_PREFIX,
    kind: 'bot',
    find: deps.routes.bot,
    receive: (answers, pushed) => receive(deps, answers, pushed),
  });
}

async function receive(deps: GatewayDeps, answers: Answers, { route, reply, body }: Pushed): Promise<void> {
  const { bot } = route.spec;
  if (bot?.platform === undefined) return answers.problem(reply, 'not-found');
  const json = parseJson(body, deps.limits.json);
  if (!json.ok) return answers.problem(reply, json.code);
  const received = readerFor(bot.platform)(json.value, bot.username);
  if (received.kind === 'challenge') return answers.send(reply, 200, TEXT_TYPE, received.text);
  if (received.kind === 'other' || !isWanted(received, bot)) return answers.send(reply, 200, JSON_TYPE, '{}');
  const input = JSON.stringify(received.output);
  if (isTooLargeEvent(input)) return answers.problem(reply, 'event-too-large');
  const startedAt = performance.now();
  const submitted = await withDeadline(store(deps, route, received, input));
  deps.metrics.acceptSeconds.observe((performance.now() - startedAt) / 1_000);
  if (submitted.outcome === 'accepted') answerAccepted(answers, reply, 200, submitted.run);
  else refuseSubmission(answers, reply, submitted, 'not-found');
}

function store(
  deps: GatewayDeps,
  { spec }: Route,
  { id }: ReceivedMessage,
  input: string,
): Promise<Submitted> {
  const key = eventKeyOf(spec, id);
  return submitEvent(deps, {
    project: spec.projectUID,
    workflow: spec.workflow,
    workflowUid: spec.workflowUID,
    revision: spec.revision,
    trigger: 'bot',
    test: false,
    input,
    dedupeKey: key,
    // The service identifies the update. Refused for a different body, it would be repeated for hours.
    bodyHash: createHash('sha256').update(key).digest('hex'),
  });
}

/** Two bots may use the same update IDs, and a Credential may change to another bot. */
function eventKeyOf({ bot }: Route['spec'], id: string): string {
  return `bot/${bot?.platform ?? ''}/${bot?.account ?? bot?.credential ?? ''}/${id}`;
}

/**
 * The outcome, or `unavailable` after the deadline. An event stored later is found by its key when it is
 * repeated.
 */
async function withDeadline(storing: Promise<Submitted>): Promise<Submitted> {
  const late = Promise.withResolvers<Submitted>();
  const timer = setTimeout(() => late.resolve(LATER), LONGEST_MS);
  try {
    return await Promise.race([storing, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
