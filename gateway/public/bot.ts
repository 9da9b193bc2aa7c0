/**
 * `POST /bot/{namespace}.{credential}`: what a messaging service says happened to a bot. A message is one event, stored before it
 * is answered; whatever else comes is answered with 200, since services repeat what was refused and keep the rest waiting for
 * it. The answer comes within a second: services repeat what takes long, too, and a repeated message is the same run.
 */
import { createHash } from 'node:crypto';
import type { FastifyPluginCallback } from 'fastify';
import { BOT_PREFIX } from '../../api/bot.ts';
import { parseJson } from '../../api/json.ts';
import { isWanted, type ReceivedMessage } from '../../nodes/messages/received.ts';
import { readerFor } from '../../nodes/providers/register.ts';
import type { Submitted } from '../../runs/types.ts';
import { JSON_TYPE, type Answers } from '../answers.ts';
import type { GatewayDeps } from '../deps.ts';
import { isTooLargeEvent } from '../limits/limits.ts';
import { answerAccepted, refuseSubmission } from '../outcome.ts';
import type { Route } from '../routes.ts';
import { storeEvent } from '../store.ts';
import { pushRoute, type Pushed } from './push.ts';

const TEXT_TYPE = 'text/plain; charset=utf-8';
/** Slack waits for three seconds in all, with the way there and back. */
const LONGEST_MS = 900;
const LATER: Submitted = { outcome: 'unavailable', why: 'connection', retryAfterSeconds: 1 };

export function botRoute(deps: GatewayDeps): FastifyPluginCallback {
  return pushRoute(deps, {
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
  const submitted = await inTime(store(deps, route, received, input));
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
  return storeEvent(deps, {
    project: spec.projectUID,
    workflow: spec.workflow,
    workflowUid: spec.workflowUID,
    revision: spec.revision,
    trigger: 'bot',
    test: false,
    input,
    dedupeKey: key,
    // The service says which event it is: refused for another body, it would be repeated for hours.
    bodyHash: createHash('sha256').update(key).digest('hex'),
  });
}

/** Two bots may number their updates alike, and a Credential may become that of another bot. */
function eventKeyOf({ bot }: Route['spec'], id: string): string {
  return `bot/${bot?.platform ?? ''}/${bot?.account ?? bot?.credential ?? ''}/${id}`;
}

/** The outcome, or that it is not known yet. What is stored after that is found by the key when the event is repeated. */
async function inTime(storing: Promise<Submitted>): Promise<Submitted> {
  const late = Promise.withResolvers<Submitted>();
  const timer = setTimeout(() => late.resolve(LATER), LONGEST_MS);
  try {
    return await Promise.race([storing, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
