/**
 * `GET /workflows/{id}/runs/{run}/events`: the live events of a run as server-sent events (WHATWG HTML,
 * section 9.2), from the first one or from the one after `Last-Event-ID`. The stream ends after the event
 * that ends the run. A client that reconnects after that gets 204.
 */
import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { isTerminal } from '../../api/phase.ts';
import { followEvents, readEvents } from '../../runs/events.ts';
import { redactEvent } from '../../runs/record/redact.ts';
import type { RunEvent } from '../../runs/types/event.ts';
import { createAnswers, type Answers, type Exchange } from '../http/answers.ts';
import { disconnectSignal, waitForDrain } from '../http/response.ts';
import { OPERATIONS } from '../contract/operations.ts';
import type { GatewayDeps } from '../endpoint/deps.ts';
import { awaitStored, findRun, type FoundRun } from './runs.ts';
import type { Unread } from '../limits/unread.ts';
import type { Admitted } from '../endpoint/admit.ts';
import { addEndpoints } from '../endpoint/route.ts';

const HEARTBEAT_MS = 15_000;
const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  // Proxies must not buffer events.
  'x-accel-buffering': 'no',
};

export function addEventsRoute(app: FastifyInstance, deps: GatewayDeps): void {
  const answers = createAnswers(deps, 'events');
  addEndpoints(app, deps, answers, [
    {
      operation: OPERATIONS.followRun,
      handleAdmitted: (exchange, admitted) => answerEvents(deps, answers, exchange, admitted),
    },
  ]);
}

async function answerEvents(
  deps: GatewayDeps,
  answers: Answers,
  exchange: Exchange,
  admitted: Admitted,
): Promise<void> {
  const found = await findRun(deps, answers, exchange, admitted);
  if (found === undefined) return;
  const { request, reply } = exchange;
  const after = lastEventId(request.headers['last-event-id']);
  if (after !== undefined && isTerminal(found.view.phase) && !(await hasMore(deps, found, after))) {
    answers.sendEmpty(reply, 204);
    return;
  }
  // Followers count as waiting callers.
  const project = found.project ?? deps.routes.project(admitted.namespace);
  if (project !== undefined && !deps.limits.waiterLimit.enter(project, reply.raw))
    return answers.problem(reply, 'too-many-waiting');
  answers.count(200);
  reply.hijack();
  deps.open.streams += 1;
  const signal = AbortSignal.any([disconnectSignal(reply.raw), deps.closing]);
  const follow = (last: string | undefined) => eventsOf(deps, { found, admitted }, last, signal);
  try {
    await stream(reply.raw, { after, follow, unread: deps.limits.unread });
  } finally {
    deps.open.streams -= 1;
    reply.raw.end();
    // The place among the callers that wait is taken until the client has read the end.
    deps.limits.unread.add(reply.raw);
  }
}

/** An invalid ID names no event: the stream starts at the first one. */
function lastEventId(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && /^[0-9A-Za-z-]{1,64}$/.test(header) ? header : undefined;
}

async function hasMore(deps: GatewayDeps, { view, project }: FoundRun, after: string): Promise<boolean> {
  if (project === undefined || after === ENDED) return false;
  const events = await readEvents(deps.runs, project, view.run, { after, limit: 1 });
  return !Array.isArray(events) || events.length > 0;
}

type Followed = { found: FoundRun; admitted: Admitted };

async function* eventsOf(
  deps: GatewayDeps,
  { found, admitted }: Followed,
  after: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<RunEvent> {
  const isAwaited = found.project === undefined && !isTerminal(found.view.phase);
  const stored = isAwaited ? await awaitStored(deps, admitted, found.view.run, signal) : found;
  if (stored === undefined) return;
  const { view, project, policy } = stored;
  let hasSent = after !== undefined && !isAwaited;
  if (project !== undefined) {
    const options = { signal, ...(after !== undefined && { after }) };
    for await (const event of followEvents(deps.runs, project, view.run, options)) {
      hasSent = true;
      const shown = redactEvent(event, policy);
      if (shown) yield shown;
    }
  }
  if (!hasSent && !signal.aborted) yield finalEvent(view);
}

const ENDED = 'ended';

/** The only event of a run whose events are gone. */
function finalEvent(view: FoundRun['view']): RunEvent {
  const at = Date.parse(view.completionTime ?? view.startTime ?? '');
  return {
    id: ENDED,
    type: 'run',
    phase: view.phase,
    ...(view.reason !== undefined && { reason: view.reason }),
    ...(view.message !== undefined && { message: view.message }),
    at: Number.isNaN(at) ? 0 : at,
  };
}

type Following = {
  after: string | undefined;
  /** The events after that one, then live ones. */
  follow: (after: string | undefined) => AsyncIterable<RunEvent>;
  unread: Unread;
};

/**
 * Sends events as they are read. Nothing is buffered for a slow client: its events are read again from the
 * run store, since thousands may follow without reading.
 */
export async function stream(response: ServerResponse, { after, follow, unread }: Following): Promise<void> {
  response.writeHead(200, HEADERS);
  response.flushHeaders();
  const heartbeat = setInterval(() => unread.heartbeat(response), HEARTBEAT_MS);
  try {
    for (let last = after; ; ) {
      let isTaken = true;
      for await (const event of follow(last)) {
        if (response.destroyed) return;
        last = event.id;
        isTaken = response.write(eventText(event));
        if (!isTaken) break;
      }
      if (isTaken || last === ENDED) return;
      unread.add(response);
      await waitForDrain(response);
      unread.remove(response);
      // Read nothing for a client that disconnected.
      if (response.destroyed) return;
    }
  } finally {
    clearInterval(heartbeat);
  }
}

/** One event in wire format. Its data is JSON, which has no line breaks. */
export function eventText({ id, type, ...data }: RunEvent): string {
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}
