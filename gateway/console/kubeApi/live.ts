/**
 * `POST /console/live`: several watches of the Kubernetes API in one answer, a line of JSON for each event,
 * since browsers open few connections to a host. Each watch uses the caller's token. A slow client stops the
 * reads from the API server. The stream ends with the client, and when the gateway closes.
 */
import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { PassThrough } from '../../../kube/passThrough.ts';
import { lines } from '../../../kube/watch.ts';
import { createAnswers, type Answers, type Exchange } from '../../http/answers.ts';
import { hasBody, refuseByHeaders } from '../../http/body.ts';
import { disconnectSignal } from '../../http/response.ts';
import type { GatewayDeps } from '../../endpoint/deps.ts';
import type { ProblemCode } from '../../contract/problems.ts';
import { admitCaller, recordRefusal } from './audit.ts';
import type { Callers } from './callers.ts';
import { ANSWER_HEADERS, readText } from './forward.ts';
import {
  createMutex,
  serializeLongLines,
  type Mutex,
  createLineWriters,
  type End,
  type LineWriter,
} from './lines.ts';
import { createSlots, type Slots } from './slots.ts';
import { MAX_WATCHES, readWatches, type Watch } from './watches.ts';
import { addRoute } from '../../endpoint/route.ts';
import { readJsonBody, withReservation } from '../../endpoint/jsonBody.ts';
import { membersOf } from '../../../api/record.ts';

const HEARTBEAT_MS = 15_000;
/** How long watches last, spread so that streams do not end together. A revoked right ends with them. */
const WATCH_SECONDS = { least: 540, spread: 60 };
/** The API server ends a watch itself; after this delay it is considered gone. */
const GRACE_MS = 10_000;
const BODY_BYTES = 65_536;
/** The longest error answer that is read. */
const STATUS_BYTES = 65_536;
const HEADERS = {
  'content-type': 'application/x-ndjson',
  ...ANSWER_HEADERS,
  // Proxies must not buffer lines.
  'x-accel-buffering': 'no',
};

export function addLiveRoute(app: FastifyInstance, deps: GatewayDeps, callers: Callers): void {
  const answers = createAnswers(deps, 'console');
  // Each tab has one stream; a new one may overlap with the old one.
  const slots = createSlots({ perToken: 8 * MAX_WATCHES, total: 4_096 });
  const context = { deps, answers, callers, slots };
  addRoute(app, answers, '/console/live', { POST: { handle: (exchange) => answer(context, exchange) } });
}

type LiveContext = { deps: GatewayDeps; answers: Answers; callers: Callers; slots: Slots };

async function answer({ deps, answers, callers, slots }: LiveContext, exchange: Exchange): Promise<void> {
  const { reply } = exchange;
  const caller = await admitCaller(deps, callers, exchange);
  if (typeof caller === 'string') return answers.problem(reply, caller);
  const seconds = WATCH_SECONDS.least + Math.floor(Math.random() * WATCH_SECONDS.spread);
  const watches = await readBodyOf(deps, exchange, seconds);
  if (watches === undefined) return undefined;
  if (typeof watches === 'string') return answers.problem(reply, watches);
  const leave = slots.enter(caller.key, watches.length);
  if (leave === undefined) {
    recordRefusal(deps, exchange, { reason: 'too-many-exchanges', caller });
    return answers.problem(reply, 'too-many-exchanges');
  }
  answers.count(200);
  reply.hijack();
  deps.open.streams += 1;
  const signal = AbortSignal.any([disconnectSignal(reply.raw), deps.closing]);
  try {
    await follow(deps, reply.raw, {
      watches,
      token: caller.token,
      onStatus: (status) => callers.answered(caller, status),
      seconds,
      signal,
    });
  } finally {
    deps.open.streams -= 1;
    leave();
    reply.raw.end();
  }
}

/** The watches, or the problem; undefined if the client disconnected. */
async function readBodyOf(
  { limits }: GatewayDeps,
  exchange: Exchange,
  seconds: number,
): Promise<Watch[] | ProblemCode | undefined> {
  const { headers } = exchange.request.raw;
  if (!hasBody(headers)) return 'bad-watches';
  const refusal = refuseByHeaders(headers, limits);
  if (refusal !== undefined) return refusal;
  return withReservation(limits, async (reservation) => {
    const body = await readJsonBody(exchange, limits, { reservation, maxBytes: BODY_BYTES });
    return body === undefined || typeof body === 'string' ? body : readWatches(body.value, seconds);
  });
}

type Following = {
  watches: Watch[];
  token: string;
  onStatus: (status: number) => void;
  seconds: number;
  signal: AbortSignal;
};

async function follow(
  { kube, limits: { unread } }: GatewayDeps,
  response: ServerResponse,
  { watches, token, onStatus, seconds, signal }: Following,
): Promise<void> {
  response.writeHead(200, HEADERS);
  response.flushHeaders();
  const heartbeat = setInterval(() => {
    if (!response.writableNeedDrain) response.write('{"alive":true}\n');
  }, HEARTBEAT_MS);
  const overdue = new AbortController();
  const timer = setTimeout(() => overdue.abort(), seconds * 1_000 + GRACE_MS);
  const ended = AbortSignal.any([signal, overdue.signal]);
  const lock = createMutex();
  const writerOf = createLineWriters(response, unread);
  try {
    await Promise.all(
      watches.map(async (watch) => {
        const out = writerOf(watch.id);
        await out.end(await followOne(kube, watch, { token, onStatus, signal: ended, out, lock }));
      }),
    );
  } finally {
    clearInterval(heartbeat);
    clearTimeout(timer);
  }
}

type One = Pick<Following, 'token' | 'onStatus' | 'signal'> & { out: LineWriter; lock: Mutex };

/** Forwards events until the watch ends, and returns how it ended. */
async function followOne(
  kube: PassThrough,
  watch: Watch,
  { token, onStatus, signal, out, lock }: One,
): Promise<End> {
  try {
    const { path, accept } = watch;
    const answer = await kube.send({ method: 'GET', path, accept, token, signal, silenceMs: 0 });
    onStatus(answer.status);
    if (answer.status !== 200) return watchEnd(answer.status, await readText(answer, STATUS_BYTES));
    for await (const line of lines(serializeLongLines(answer.body, lock))) {
      await out.event(line);
      const refusal = errorOf(line);
      if (refusal !== undefined) return refusal;
    }
    return { status: 200 };
  } catch {
    // The API server is unavailable, or the watch was to end and nobody reads this.
    return { status: 503 };
  }
}

/** The end that an ERROR event reports. Only its first bytes are searched: the type comes first. */
function errorOf(line: string): End | undefined {
  if (!line.slice(0, 40).includes('"ERROR"')) return undefined;
  const { type, object } = JSON.parse(line) as { type?: string; object?: { code?: number } };
  return type === 'ERROR' ? watchEnd(object?.code ?? 500, JSON.stringify(object)) : undefined;
}

function watchEnd(status: number, text: string): End {
  const { reason, message } = statusOf(text);
  return {
    status,
    ...(typeof reason === 'string' && { reason }),
    ...(typeof message === 'string' && { message }),
  };
}

function statusOf(text: string): { reason?: unknown; message?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return membersOf(value);
  } catch {
    return {};
  }
}
