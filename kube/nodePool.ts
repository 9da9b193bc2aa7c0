/**
 * Pooled connections with Node's own HTTP client, for programs that make few requests. A request takes more
 * processor time than one with undici, which compiles its parser when it first connects: that would cost an
 * idle program more memory than all of its requests.
 */
import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  CONNECT_MS,
  KEEP_ALIVE_MS,
  NotSentError,
  PROBE_AFTER_MS,
  type HttpPool,
  type PooledAnswer,
  type PooledRequest,
  type PoolOptions,
} from './httpPool.ts';

// An import of these modules reads all that they export, and with it loads fetch and WebSocket of Node.
const http = process.getBuiltinModule('node:http');
const https = process.getBuiltinModule('node:https');

export function createNodePool(options: PoolOptions): HttpPool {
  const connections = createConnections(options);
  const failures = new Set<(error: Error) => void>();
  let isClosed = false;
  return {
    request: async (request) => {
      request.signal?.throwIfAborted();
      if (isClosed) throw closedError();
      return answerOf(await send(request, connections, failures));
    },
    close: async () => {
      isClosed = true;
      for (const fail of failures) fail(closedError());
      connections.close();
    },
  };
}

type Connections = {
  /** A request that has not been sent, which gets its connection sooner or later. */
  open(line: Pick<PooledRequest, 'method' | 'path' | 'headers'>): ClientRequest;
  /** Calls `act` once the connection of the request is there, unless the request ends before. */
  onceConnected(request: ClientRequest, act: () => void): void;
  beforeSent: PoolOptions['beforeSent'];
  close(): void;
};

function createConnections({
  origin,
  tls,
  maxConnections = Infinity,
  connectMs = CONNECT_MS,
  beforeSent,
}: PoolOptions): Connections {
  const { protocol, hostname, port } = new URL(origin);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const isSecure = protocol === 'https:';
  const { Agent, request } = isSecure ? https : http;
  const agent: Agent = new Agent({
    keepAlive: true,
    keepAliveMsecs: PROBE_AFTER_MS,
    timeout: KEEP_ALIVE_MS,
    maxSockets: maxConnections,
  });
  const event = isSecure ? 'secureConnect' : 'connect';
  const connected = new WeakSet<Duplex>();
  const connect = agent.createConnection.bind(agent);
  let isClosed = false;
  agent.createConnection = (options, callback) => {
    if (isClosed) {
      // When its connections are destroyed, the agent makes others for what waits.
      callback?.(closedError(), undefined as never);
      return undefined;
    }
    const socket = connect({ ...options, ...tls }, callback);
    const overdue = setTimeout(() => socket?.destroy(timeoutError('no connection')), connectMs);
    socket?.once('close', () => clearTimeout(overdue));
    socket?.once(event, () => {
      clearTimeout(overdue);
      connected.add(socket);
    });
    return socket;
  };
  return {
    open: (line) => request({ host, port, agent, ...line }),
    onceConnected: (outgoing, act) => {
      outgoing.once('socket', (socket) => {
        if (connected.has(socket)) act();
        else socket.once(event, () => outgoing.destroyed || act());
      });
    },
    beforeSent,
    close: () => {
      isClosed = true;
      agent.destroy();
    },
  };
}

/** `failures`: what ends each request that has not ended. */
function send(
  { method, path, headers, body, signal, headersMs }: PooledRequest,
  connections: Connections,
  failures: Set<(error: Error) => void>,
): Promise<IncomingMessage> {
  // Node would not say it of a DELETE, whose body would then have no end.
  const length = body !== undefined && { 'content-length': String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const outgoing = connections.open({ method, path, headers: { ...headers, ...length } });
    let answer: IncomingMessage | undefined;
    let isSent = false;
    let overdue: NodeJS.Timeout | undefined;
    const fail = (error: Error): void => {
      reject(error);
      // One that waits for a connection would end only when it is its turn.
      end();
      (answer ?? outgoing).destroy(error);
    };
    const abort = (): void => fail(signal?.reason as Error);
    const end = (): void => {
      clearTimeout(overdue);
      signal?.removeEventListener('abort', abort);
      failures.delete(fail);
    };
    failures.add(fail);
    signal?.addEventListener('abort', abort);
    outgoing.on('error', (error) => reject(isSent ? error : new NotSentError(error)));
    outgoing.once('close', end);
    outgoing.once('response', (response) => {
      clearTimeout(overdue);
      answer = response;
      resolve(response);
    });
    connections.onceConnected(outgoing, () => {
      try {
        connections.beforeSent?.(method);
      } catch (error) {
        return fail(error as Error);
      }
      isSent = true;
      overdue = setTimeout(() => fail(timeoutError('no answer')), headersMs);
      outgoing.end(body);
    });
  });
}

function answerOf(response: IncomingMessage): PooledAnswer {
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: response,
    text: async () => {
      const read: Buffer[] = [];
      for await (const chunk of response as AsyncIterable<Buffer>) read.push(chunk);
      return Buffer.concat(read).toString();
    },
  };
}

function timeoutError(what: string): Error {
  return Object.assign(new Error(`There was ${what} in time`), { code: 'ETIMEDOUT' });
}

function closedError(): Error {
  return Object.assign(new Error('The client was closed'), { code: 'Closed' });
}
