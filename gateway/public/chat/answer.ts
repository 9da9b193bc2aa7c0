/**
 * Answers a message of a chat with the reply of its run: as a stream of events, or as one JSON value. Runs
 * that left the run store are not looked up elsewhere: anonymous calls must not cause requests to the API
 * server.
 */
import type { FastifyReply } from 'fastify';
import { followEvents } from '../../../runs/events.ts';
import type { Waited } from '../../../runs/reply.ts';
import type { RunState } from '../../../runs/types/run.ts';
import type { Submitted } from '../../../runs/types/submission.ts';
import type { GatewayDeps } from '../../endpoint/deps.ts';
import { waitForRun } from '../../endpoint/submission.ts';
import { JSON_TYPE, type Answers } from '../../http/answers.ts';
import { disconnectSignal, waitForDrain } from '../../http/response.ts';
import type { Route } from '../../routing/table.ts';
import { chatEventText, createAnswerReader, type ChatEvent } from './events.ts';
import { SESSION_HEADER } from './message.ts';

type Answering = Pick<GatewayDeps, 'runs' | 'waiter' | 'open' | 'closing' | 'draining' | 'limits'>;
/** An accepted message. `token`: of its session. */
export type Accepted = {
  route: Route;
  token: string;
  submitted: Extract<Submitted, { outcome: 'accepted' }>;
};

const JSON_WAIT_MS = 300_000;
/** A stream outlives every wait of a run: a client that disconnects ends it. */
const STREAM_WAIT_MS = 86_400_000;
const HEARTBEAT_MS = 15_000;

/** Answers with `{"text"}`, or with a problem. */
export async function answerJson(
  deps: Answering,
  answers: Answers,
  reply: FastifyReply,
  accepted: Accepted,
): Promise<void> {
  const signal = AbortSignal.any([disconnectSignal(reply.raw), deps.closing]);
  const end = await waitForAnswer(deps, accepted, { timeoutMs: JSON_WAIT_MS, signal });
  if (reply.raw.destroyed) return;
  reply.header(SESSION_HEADER, accepted.token).header('cache-control', 'no-store');
  if (end.type === 'error') return answers.problem(reply, end.problem);
  answers.send(reply, 200, JSON_TYPE, JSON.stringify({ text: end.text }));
}

/** Answers with a stream. It ends without `done` and `error` if this replica shuts down. */
export async function answerStream(
  deps: Answering,
  answers: Answers,
  reply: FastifyReply,
  accepted: Accepted,
): Promise<void> {
  answers.count(200);
  reply.hijack();
  deps.open.streams += 1;
  const { raw: response } = reply;
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    // Proxies must not buffer events.
    'x-accel-buffering': 'no',
    [SESSION_HEADER]: accepted.token,
    ...(deps.draining.aborted && { connection: 'close' }),
  });
  response.flushHeaders();
  const heartbeat = setInterval(() => deps.limits.unread.heartbeat(response), HEARTBEAT_MS);
  try {
    await streamAnswer(deps, reply, accepted);
  } finally {
    clearInterval(heartbeat);
    deps.open.streams -= 1;
    response.end();
    // The place among the callers that wait is taken until the client has read the end.
    deps.limits.unread.add(response);
  }
}

/** Sends text as it comes, until the whole answer is known. */
async function streamAnswer(deps: Answering, { raw: response }: FastifyReply, accepted: Accepted) {
  const stopped = AbortSignal.any([disconnectSignal(response), deps.closing]);
  const answered = new AbortController();
  const following = followText(deps, response, accepted, AbortSignal.any([stopped, answered.signal]));
  try {
    const end = await waitForAnswer(deps, accepted, { timeoutMs: STREAM_WAIT_MS, signal: stopped });
    answered.abort();
    await following;
    if (!stopped.aborted) response.write(chatEventText(end));
  } finally {
    answered.abort();
    await following.catch(() => undefined);
  }
}

/**
 * Sends the text of the answering node. Nothing is buffered for a slow client: its events are read again from
 * the run store.
 */
async function followText(
  { runs, limits }: Answering,
  response: FastifyReply['raw'],
  { route: { spec }, submitted: { run } }: Accepted,
  signal: AbortSignal,
): Promise<void> {
  const read = createAnswerReader(spec.chat?.answer);
  let after: string | undefined;
  let isTaken = false;
  while (!isTaken && !signal.aborted && !response.destroyed) {
    isTaken = true;
    for await (const event of followEvents(runs, spec.projectUID, run, { signal, ...(after && { after }) })) {
      after = event.id;
      const shown = read(event);
      if (signal.aborted || response.destroyed) return;
      isTaken = shown === undefined || response.write(chatEventText(shown));
      if (!isTaken) break;
    }
    if (isTaken) return;
    limits.unread.add(response);
    await waitForDrain(response);
    limits.unread.remove(response);
  }
}

type End = Extract<ChatEvent, { type: 'done' | 'error' }>;

async function waitForAnswer(
  deps: Answering,
  { route: { spec }, submitted }: Accepted,
  options: { timeoutMs: number; signal: AbortSignal },
): Promise<End> {
  if (submitted.reply !== undefined) return { type: 'done', text: submitted.reply.body };
  if (submitted.ended !== undefined) return { type: 'error', problem: 'chat-failed' };
  return endOf(await waitForRun(deps, spec.projectUID, submitted.run, options));
}

function endOf(waited: Waited): End {
  switch (waited.kind) {
    case 'reply':
      return { type: 'done', text: waited.reply.body };
    case 'ended':
      return waited.reply === undefined
        ? { type: 'error', problem: problemOfEnd(waited.state) }
        : { type: 'done', text: waited.reply.body };
    case 'gone':
      return { type: 'error', problem: 'chat-answer-unknown' };
    case 'timeout':
      return { type: 'error', problem: 'chat-timeout' };
  }
}

/** Viewers learn that a limit was reached, as a later message may be answered: nothing else of a failure. */
function problemOfEnd({ nodes }: RunState): 'chat-limit' | 'chat-failed' {
  const isOverBudget = nodes.some(({ phase, reason }) => phase === 'Failed' && reason === 'BudgetExceeded');
  return isOverBudget ? 'chat-limit' : 'chat-failed';
}
