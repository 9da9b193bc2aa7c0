/**
 * An HTTP proxy to an API server that misbehaves as told: it refuses, resets, falls silent, holds events
 * back, or answers by a script of its own. Without an API server behind it, only the script answers.
 */
import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { KubeConnection } from '../../../kube/config.ts';

export type SeenRequest = {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  at: number;
};

/** An answer by script. `lines` are sent as a watch sends them, and then the stream ends so. */
type Reply =
  | { status: number; headers?: Record<string, string>; body?: unknown }
  | { lines: unknown[]; finish: 'end' | 'reset' | 'silence' }
  | 'reset'
  | 'silence';

export type KubeApiFaults = {
  connection: KubeConnection;
  seen: SeenRequest[];
  /** Answers the next requests that match by script, in the order of the replies. */
  script(match: (request: SeenRequest) => boolean, ...replies: Reply[]): void;
  /** Answers every request that matches so, until the function it returns is called. */
  always(match: (request: SeenRequest) => boolean, reply: Reply): () => void;
  /** From now on nothing passes on the watches that are open; their connections stay. */
  silenceWatches(): void;
  resetWatches(): void;
  /** Ends the watches that are open, as a server or a proxy does whose time for them is over. */
  endWatches(): void;
  /** Sends an ERROR event on the watches that are open: the version that they are at has expired. */
  expireWatches(): void;
  /** Keeps back what watches send, also those that open later, until it is released. */
  holdWatches(): void;
  releaseWatches(): void;
  openWatches(): number;
  /** TCP connections accepted so far. */
  accepted(): number;
  stop(): Promise<void>;
};

type Watch = {
  request: IncomingMessage;
  response: ServerResponse;
  upstream?: IncomingMessage;
  silent: boolean;
};

const EXPIRED = { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } };

export function isWatch(request: SeenRequest): boolean {
  return request.query.get('watch') === 'true';
}

export function isList(request: SeenRequest): boolean {
  return request.method === 'GET' && request.query.has('limit') && !isWatch(request);
}

export async function startKubeApiFaults(upstream?: KubeConnection): Promise<KubeApiFaults> {
  const seen: SeenRequest[] = [];
  const scripts: { match: (request: SeenRequest) => boolean; replies: Reply[]; forever: boolean }[] = [];
  const watches = new Set<Watch>();
  const sockets = new Set<Socket>();
  const agent = new Agent({ keepAlive: true });
  let delayed: (() => void)[] | undefined;
  let accepted = 0;

  function nextReply(request: SeenRequest): Reply | undefined {
    for (const script of scripts) {
      if (!script.match(request)) continue;
      const reply = script.forever ? script.replies[0] : script.replies.shift();
      if (reply !== undefined) return reply;
    }
    return undefined;
  }

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://server');
    const { pathname: path, searchParams: query } = url;
    const record = {
      method: request.method ?? '',
      path,
      query,
      headers: request.headers,
      at: performance.now(),
    };
    seen.push(record);
    const reply = nextReply(record);
    const watch: Watch = { request, response, silent: false };
    if (isWatch(record)) {
      watches.add(watch);
      response.on('close', () => {
        watches.delete(watch);
        watch.upstream?.destroy();
      });
    }
    if (reply !== undefined) sendReply(request, response, reply);
    else if (upstream === undefined)
      sendReply(request, response, { status: 404, body: { reason: 'NotFound' } });
    else
      forward(upstream, agent, watch, (deliver) =>
        delayed === undefined ? deliver() : delayed.push(deliver),
      );
  });
  server.on('connection', (socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  const port = await startListening(server);

  return {
    connection: { server: `http://127.0.0.1:${port}`, auth: {} },
    seen,
    script: (match, ...replies) => {
      scripts.push({ match, replies, forever: false });
    },
    always: (match, reply) => {
      const script = { match, replies: [reply], forever: true };
      scripts.push(script);
      return () => scripts.splice(scripts.indexOf(script), 1);
    },
    silenceWatches: () => {
      for (const watch of watches) watch.silent = true;
    },
    resetWatches: () => {
      for (const { request } of watches) request.socket.resetAndDestroy();
    },
    endWatches: () => {
      for (const { response } of watches) response.end();
    },
    expireWatches: () => {
      for (const { response } of watches) response.end(`${JSON.stringify(EXPIRED)}\n`);
    },
    holdWatches: () => {
      delayed ??= [];
    },
    releaseWatches: () => {
      const waiting = delayed ?? [];
      delayed = undefined;
      for (const deliver of waiting) deliver();
    },
    openWatches: () => watches.size,
    accepted: () => accepted,
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      agent.destroy();
      await closed;
    },
  };
}

async function startListening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function sendReply(request: IncomingMessage, response: ServerResponse, reply: Reply): void {
  request.resume();
  if (reply === 'silence') return;
  if (reply === 'reset') {
    request.socket.resetAndDestroy();
    return;
  }
  if ('lines' in reply) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    for (const line of reply.lines) response.write(`${JSON.stringify(line)}\n`);
    if (reply.finish === 'end') response.end();
    if (reply.finish === 'reset') response.write('', () => request.socket.resetAndDestroy());
    return;
  }
  response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
  response.end(JSON.stringify(reply.body ?? {}));
}

/** Passes a request on as the user of the connection, and the answer back through `pass`. */
function forward(
  { server, ca, auth }: KubeConnection,
  agent: Agent,
  watch: Watch,
  pass: (deliver: () => void) => void,
): void {
  const { request, response } = watch;
  const { host: _host, connection: _connection, ...headers } = request.headers;
  const url = new URL(request.url ?? '/', server);
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const out = send(url, { method: request.method, headers, ca, cert: auth.cert, key: auth.key, agent });
  out.on('response', (answer) => {
    // A watch that was ended before it was answered.
    if (response.writableEnded) return void answer.destroy();
    watch.upstream = answer;
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    response.flushHeaders();
    const hold = url.searchParams.get('watch') === 'true' ? pass : (deliver: () => void) => deliver();
    const deliver = (send: () => void): void => hold(() => watch.silent || send());
    answer.on('data', (chunk: Buffer) => deliver(() => response.write(chunk)));
    answer.on('end', () => deliver(() => response.end()));
    answer.on('error', () => deliver(() => response.destroy()));
  });
  out.on('error', () => response.destroy());
  request.pipe(out);
}
