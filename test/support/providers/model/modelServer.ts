/**
 * A language model for the demo and for tests: it speaks the chat completions API with streaming
 * (https://platform.openai.com/docs/api-reference/chat/create) and answers the same to the same prompt.
 *
 * What it does is chosen by the model's name: `demo` answers, `demo-slow` takes its time, `demo-paused` stops
 * in the middle of its answer until `PUT /resume` says a part of the prompt, and each name of `MODEL_FAULTS`
 * fails in that way. `PUT /fault` with `{"fault": "…", "times": 2}` makes the next requests
 * fail whatever they name. `setAnswers` gives the next answers. Lines of the prompt make it call tools
 * (`scriptOf`). `GET /requests` lists what was asked, `DELETE /requests` forgets it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { listen, readBody, sendJson } from '../../network/listen.ts';
import { answerTo, scriptOf, usageOf } from './modelAnswers.ts';
import type { ModelRequest, ToolCall } from './modelRequest.ts';
import { supportAnswer } from './supportAnswers.ts';

/** How a request can fail. */
const MODEL_FAULTS = [
  'error-500',
  'rate-limit',
  'not-found',
  'garbage',
  'bad-json',
  'nothing',
  'hang',
  'half-stream',
  'cut-stream',
  'stall',
  'one-byte-a-second',
  'reset',
  'endless-text',
  'endless-chunks',
  'endless-line',
  'endless-error',
  'no-schemas',
  'context-length',
] as const;
export type ModelFault = (typeof MODEL_FAULTS)[number];

export type ModelServerOptions = {
  port?: number;
  host?: string;
  /** Milliseconds between two chunks of a stream. Default 0. */
  delayMs?: number;
  /** The same for models whose name ends with `-slow`. Default 300. */
  slowDelayMs?: number;
  /** The only key that is admitted. Default: any. */
  apiKey?: string;
};

export type ModelServer = {
  port: number;
  /** What goes into a credential's baseURL. */
  baseURL: string;
  requests: { body: ModelRequest; idempotencyKey: string | undefined; at: number }[];
  /** The texts of the next answers, in order, whatever is asked. Those that remain of earlier calls go. */
  setAnswers(...texts: string[]): void;
  /** How many answers were given to their end. */
  answered(): number;
  setFault(fault: ModelFault | undefined, times?: number): void;
  close(): Promise<void>;
};

type State = {
  options: Required<Omit<ModelServerOptions, 'apiKey' | 'host' | 'port'>> & { apiKey: string | undefined };
  requests: ModelServer['requests'];
  fault: ModelFault | undefined;
  /** What the next requests are answered with. */
  answers: string[];
  times: number;
  answered: number;
  paused: Paused[];
  /** Parts of prompts whose answers do not stop any more. */
  resumed: string[];
};

/** An answer that stopped in its middle. */
type Paused = { body: ModelRequest; resume: () => void };

/** Starts it on a free port, unless another is named. */
export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const { port = 0, host = '127.0.0.1', delayMs = 0, slowDelayMs = 300, apiKey } = options;
  const state: State = {
    options: { delayMs, slowDelayMs, apiKey },
    requests: [],
    fault: undefined,
    answers: [],
    times: 0,
    answered: 0,
    paused: [],
    resumed: [],
  };
  const http = await listen((request, response) => route(state, request, response), { port, host });
  return {
    port: http.port,
    baseURL: `${http.url}/v1`,
    requests: state.requests,
    setAnswers: (...texts) => {
      state.answers = texts;
    },
    answered: () => state.answered,
    setFault: (fault, times = Number.POSITIVE_INFINITY) => {
      Object.assign(state, { fault, times });
    },
    close: () => http.close(),
  };
}

async function route(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = `${request.method} ${request.url}`;
  if (path === 'GET /healthz') response.writeHead(200).end('ok');
  else if (path === 'GET /requests') sendJson(response, 200, state.requests);
  else if (path === 'DELETE /requests') {
    state.requests.length = 0;
    response.writeHead(204).end();
  } else if (path === 'PUT /fault' || path === 'DELETE /fault') {
    const { fault, times = Number.POSITIVE_INFINITY } = JSON.parse(
      (await readBody(request)) || '{}',
    ) as Partial<State>;
    Object.assign(state, { fault, times });
    response.writeHead(204).end();
  } else if (path === 'PUT /resume') {
    resumeAnswers(state, await readBody(request));
    response.writeHead(204).end();
  } else if (!isAdmitted(state, request)) {
    sendError(response, 401, 'Incorrect API key provided.', 'invalid_api_key');
  } else if (path === 'GET /v1/models') {
    const data = ['demo', 'demo-slow'].map((id) => ({ id, object: 'model', created: 0, owned_by: 'demo' }));
    sendJson(response, 200, { object: 'list', data });
  } else if (path === 'POST /v1/chat/completions') await complete(state, request, response);
  else sendError(response, 404, 'Unknown request URL.', 'unknown_url');
}

/** Goes on with answers to prompts that contain this text, with those of later requests too. */
function resumeAnswers(state: State, text: string): void {
  state.resumed.push(text);
  const [meant = [], others = []] = [true, false].map((is) =>
    state.paused.filter(({ body }) => isResumed(state, body) === is),
  );
  state.paused = others;
  for (const { resume } of meant) resume();
}

const isResumed = ({ resumed }: State, { messages }: ModelRequest): boolean =>
  resumed.some((text) => JSON.stringify(messages).includes(text));

function isAdmitted({ options: { apiKey } }: State, request: IncomingMessage): boolean {
  const key = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  return key !== undefined && (apiKey === undefined || key === apiKey);
}

async function complete(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = JSON.parse(await readBody(request)) as ModelRequest;
  const idempotencyKey = request.headers['idempotency-key'] as string | undefined;
  state.requests.push({ body, idempotencyKey, at: Date.now() });
  const fault = nextFault(state, body);
  if (fault && FAILURES[fault]) return FAILURES[fault](response);
  const given = state.answers.shift();
  const { text, calls } =
    given === undefined ? (supportAnswer(body) ?? scriptedAnswer(body)) : { text: given, calls: [] };
  const usage = usageOf(body, text);
  if (body.stream !== true) {
    const message = { role: 'assistant', content: text, refusal: null };
    const choices = [{ index: 0, message, finish_reason: 'stop', logprobs: null }];
    sendJson(response, 200, { ...envelope(body, 'chat.completion'), choices, usage });
  } else
    await streamAnswer(response, body, {
      text,
      calls,
      usage,
      fault,
      delayMs: delayOf(state, body),
      middle: () => middleOf(state, body),
    });
  state.answered += 1;
}

function scriptedAnswer(body: ModelRequest): { text: string; calls: readonly ToolCall[] } {
  const { calls, text = calls.length > 0 ? '' : answerTo(body) } = scriptOf(body);
  return { text, calls };
}

function nextFault(state: State, body: ModelRequest): ModelFault | undefined {
  if (state.fault !== undefined && state.times > 0) {
    state.times -= 1;
    return state.fault;
  }
  const named = MODEL_FAULTS.find((fault) => fault === body.model);
  return named === 'no-schemas' && body.response_format === undefined ? undefined : named;
}

/** Until the answer goes on after its middle: at once, unless its model is a paused one. */
function middleOf(state: State, body: ModelRequest): Promise<void> {
  if (!body.model.endsWith('-paused') || isResumed(state, body)) return Promise.resolve();
  return new Promise((resume) => state.paused.push({ body, resume }));
}

function delayOf({ options }: State, { model }: ModelRequest): number {
  return model.endsWith('-slow') ? options.slowDelayMs : options.delayMs;
}

/** The faults that send no answer at all. The others spoil a stream that has begun. */
const FAILURES: Partial<Record<ModelFault, (response: ServerResponse) => void>> = {
  'error-500': (response) => sendError(response, 500, 'The server had an error.', 'server_error'),
  'rate-limit': (response) => {
    response.setHeader('retry-after', '1');
    sendError(response, 429, 'Rate limit reached for requests.', 'rate_limit_exceeded');
  },
  'not-found': (response) => sendError(response, 404, 'The model does not exist.', 'model_not_found'),
  'no-schemas': (response) =>
    sendError(response, 400, "Unsupported value: 'response_format' json_schema.", 'unsupported_value'),
  'context-length': (response) =>
    sendError(
      response,
      400,
      "This model's maximum context length is 8192 tokens.",
      'context_length_exceeded',
    ),
  garbage: (response) =>
    void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>'),
  'bad-json': (response) =>
    void response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: {"choices": [\n\n'),
  nothing: (response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(),
  hang: () => undefined,
  reset: (response) => void response.destroy(),
  'endless-line': (response) => endless(response, 200, 'x'.repeat(65_536)),
  'endless-error': (response) => endless(response, 500, `${'x'.repeat(65_535)}\n`),
};

type Streamed = {
  text: string;
  calls: readonly ToolCall[];
  usage: object;
  fault: ModelFault | undefined;
  delayMs: number;
  middle: () => Promise<void>;
};

async function streamAnswer(
  response: ServerResponse,
  body: ModelRequest,
  { text, calls, usage, fault, delayMs, middle }: Streamed,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const send = (choices: unknown[], extra: object = {}): void => {
    response.write(
      `data: ${JSON.stringify({ ...envelope(body, 'chat.completion.chunk'), choices, ...extra })}\n\n`,
    );
  };
  send([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]);
  if (fault === 'one-byte-a-second') return trickle(response);
  if (fault === 'endless-text' || fault === 'endless-chunks') {
    const delta = fault === 'endless-text' ? { content: 'tea '.repeat(4_096) } : {};
    const chunk = { ...envelope(body, 'chat.completion.chunk'), choices: [{ index: 0, delta }] };
    return endless(response, 200, `data: ${JSON.stringify(chunk)}\n\n`);
  }
  const words = text.match(/\S+\s*/g) ?? [];
  const half = words.length / 2;
  for (const [index, content] of words.entries()) {
    if (fault !== undefined && index >= half) return spoil(response, fault);
    await (index === Math.floor(half) ? middle() : pause(delayMs));
    if (response.destroyed) return;
    send([{ index: 0, delta: { content }, finish_reason: null }]);
  }
  for (const delta of deltasOf(calls, body)) send([{ index: 0, delta, finish_reason: null }]);
  send([{ index: 0, delta: {}, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' }]);
  if (body.stream_options?.include_usage) send([], { usage });
  response.end('data: [DONE]\n\n');
}

const pause = async (ms: number): Promise<void> => (ms > 0 ? delay(ms) : undefined);

/** Tool calls as they are streamed. Their IDs are unique in the conversation. */
function deltasOf(calls: readonly ToolCall[], { messages }: ModelRequest): object[] {
  return calls.flatMap((call, index) =>
    piecesOf(call, `call_${messages.length}_${index}`).map((piece) => ({
      tool_calls: [{ index, ...piece }],
    })),
  );
}

/** A tool call as it is streamed: first its name, then the arguments in two pieces. */
function piecesOf({ name, arguments: text }: ToolCall, id: string): object[] {
  const middle = Math.floor(text.length / 2);
  return [
    { id, type: 'function', function: { name, arguments: '' } },
    { function: { arguments: text.slice(0, middle) } },
    { function: { arguments: text.slice(middle) } },
  ];
}

/** Half a stream: ended as if it were whole, cut off, or silent from here on. */
function spoil(response: ServerResponse, fault: ModelFault): void {
  if (fault === 'half-stream') response.end();
  else if (fault === 'cut-stream') response.destroy();
}

/** Bytes that never become a chunk. */
async function trickle(response: ServerResponse): Promise<void> {
  while (!response.destroyed) {
    response.write(':');
    await delay(1_000);
  }
}

/** The same for ever, as fast as it is taken. */
function endless(response: ServerResponse, status: number, piece: string): void {
  if (!response.headersSent) response.writeHead(status, { 'content-type': 'text/event-stream' });
  const pieces = Readable.from(forever(piece)).on('error', () => undefined);
  response.once('close', () => pieces.destroy());
  pieces.pipe(response);
}

async function* forever(piece: string): AsyncGenerator<string> {
  for (;;) {
    yield piece;
    // Other requests have their turn.
    await delay(0);
  }
}

function envelope({ model }: ModelRequest, object: string): object {
  return { id: 'chatcmpl-demo', object, created: 1_700_000_000, model, system_fingerprint: 'demo' };
}

function sendError(response: ServerResponse, status: number, message: string, code: string): void {
  sendJson(response, status, { error: { message, type: 'invalid_request_error', param: null, code } });
}

async function main(env: Record<string, string | undefined>): Promise<void> {
  const server = await startModelServer({
    port: Number(env['PORT'] ?? 8080),
    host: env['HOST'] ?? '0.0.0.0',
    delayMs: Number(env['DELAY_MS'] ?? 60),
    slowDelayMs: Number(env['SLOW_DELAY_MS'] ?? 600),
    ...(env['API_KEY'] ? { apiKey: env['API_KEY'] } : {}),
  });
  console.log(JSON.stringify({ msg: 'model server listens', port: server.port }));
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => void server.close().then(() => process.exit(0)));
  }
}

if (import.meta.main) await main(process.env);
