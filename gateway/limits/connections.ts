/**
 * Limits the connections of a listener, in all and per address. When a limit is reached, a new connection
 * replaces the one that has been without a complete request for longest, so that clients which hold
 * connections open or send slowly exclude nobody. Connections with a request in progress are never closed for
 * that. Over TLS a connection counts from its first byte, before the handshake, which costs the most.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import { isTLSServer, watchHandshakes } from '../tls/server.ts';
import type { RefusalReason, Refusals } from './refusals.ts';
import type { LimitSettings } from './settings.ts';

export type Connections = {
  /** Counts a request. False if it must be ignored, because an earlier answer closes the connection. */
  beginRequest: (request: IncomingMessage, response: ServerResponse) => boolean;
  /**
   * Marks the rest of the connection as unreadable. True if no answer may be sent: either answers to complete
   * requests are pending, and another answer would be taken for one of them; or the malformed request was
   * answered already.
   */
  markMalformed: (socket: Socket) => boolean;
  /** From now on every answer closes its connection. */
  drain: () => void;
  open: () => number;
  /** Whether the socket is an open connection; over TLS after its handshake. */
  has: (socket: Socket) => boolean;
};

type Connection = {
  /** The HTTP socket; during a TLS handshake, the accepted socket. */
  socket: Socket;
  /** Undefined for a trusted proxy, which has many clients. */
  client: string | undefined;
  requests: number;
  /** Pending answers, in the order of their requests; may include sent ones. */
  responses: ServerResponse[];
  isLast: boolean;
};

export type ConnectionOptions = Pick<
  LimitSettings,
  'connections' | 'connectionsPerAddress' | 'requestsPerConnection'
> & {
  isProxy: (address: string) => boolean;
  /** The client of an address: one IPv6 network has more addresses than there are connections. */
  clientOf: (address: string) => string;
  refused: Refusals;
  /** The whole HTTP answer to a refused connection. Over TLS it is closed without one. */
  refusal: () => string;
};

export function limitConnections(server: Server, options: ConnectionOptions): Connections {
  const table = createConnectionTable();
  let draining = false;
  server.on('connection', (socket: Socket) => {
    destroyOnError(socket);
    const address = socket.remoteAddress ?? '';
    const client = options.isProxy(address) ? undefined : options.clientOf(address);
    const reason = makeRoom(table, client, options);
    if (reason !== undefined) {
      options.refused[reason] += 1;
      if (isTLSServer(server)) socket.destroy();
      else closeWithResponse(socket, options.refusal());
      return;
    }
    const connection: Connection = { socket, client, requests: 0, responses: [], isLast: false };
    table.add(connection);
    socket.once('close', () => {
      table.remove(connection.socket);
      connection.responses.filter(isPending).forEach(close);
    });
  });
  watchHandshakes(server, (accepted, secure) => {
    destroyOnError(secure);
    table.replace(accepted, secure);
  });
  return {
    beginRequest: (request, response) => {
      const { socket } = request;
      const connection = table.known.get(socket);
      // Refused and replaced connections are ended; any other unknown one was not accepted by this server.
      if (connection?.isLast ?? (socket.writableEnded || socket.destroyed)) {
        stopParsing(socket);
        return false;
      }
      if (connection === undefined) return true;
      connection.requests += 1;
      connection.responses = [...connection.responses.filter(isPending), response];
      const isLast = connection.requests >= options.requestsPerConnection;
      const isFull = connection.responses.length >= MAX_PIPELINED;
      if (draining || isLast || isFull) closeAfter(connection, response);
      if (isFull) stopParsing(socket);
      table.moveToEnd(socket, connection);
      return true;
    },
    markMalformed: (socket) => {
      const connection = table.known.get(socket);
      if (connection === undefined) return false;
      const last = connection.responses.findLast(isInProgress);
      if (last === undefined) return endIfAnsweredEarly(connection, socket);
      socket.pause();
      closeAfter(connection, last);
      return true;
    },
    drain: () => {
      draining = true;
      for (const connection of table.known.values()) {
        const last = connection.responses.findLast(isInProgress);
        if (last !== undefined) closeAfter(connection, last);
      }
    },
    open: () => table.known.size,
    has: (socket) => table.known.has(socket),
  };
}

/** Node removes its own listener when a client asks for a tunnel; an error would then end the process. */
function destroyOnError(socket: Socket): void {
  socket.on('error', () => socket.destroy());
}

/**
 * How many answers a client may leave unread while it sends requests. Each costs as much as a request of its
 * own connection.
 */
const MAX_PIPELINED = 16;

/** Tells Node's HTTP parser that no HTTP follows. */
const NOT_HTTP = 2;

/**
 * Turns nothing more of this connection into requests, neither unread bytes nor bytes in the parser: 64 KiB
 * may contain two thousand, each kept until the connection closes. Node has no documented way to stop its
 * parser, so this returns what it returns for upgraded connections (`parserOnIncoming` in Node's
 * lib/_http_server.js).
 */
function stopParsing(socket: Socket): void {
  socket.pause();
  const { parser } = socket as { parser?: { onIncoming: () => number } | null };
  if (parser) parser.onIncoming = () => NOT_HTTP;
}

/** When a connection ends, Node closes the answer in progress and forgets the ones queued after it. */
function close(response: ServerResponse): void {
  if (response.socket !== null) return;
  response.destroy();
  response.emit('close');
}

function closeAfter(connection: Connection, response: ServerResponse): void {
  connection.isLast = true;
  if (!response.headersSent) response.setHeader('connection', 'close');
  else response.once('finish', () => response.req.socket.destroySoon());
}

function endIfAnsweredEarly({ responses }: Connection, socket: Socket): boolean {
  const current = responses.at(-1);
  if (current === undefined || current.req.complete || !current.headersSent) return false;
  socket.end();
  return true;
}

function isPending(response: ServerResponse): boolean {
  return !response.writableFinished && !response.destroyed;
}

/** Whether the request is complete and its answer pending. */
function isInProgress(response: ServerResponse): boolean {
  return response.req.complete && isPending(response);
}

type ConnectionTable = ReturnType<typeof createConnectionTable>;

/** The open connections, ordered by the start of their last request. */
function createConnectionTable() {
  const known = new Map<Socket, Connection>();
  const perClient = new Map<string, number>();
  const countOf = (client: string): number => perClient.get(client) ?? 0;
  return {
    known,
    countOf,
    add: (connection: Connection): void => {
      known.set(connection.socket, connection);
      const { client } = connection;
      if (client !== undefined) perClient.set(client, countOf(client) + 1);
    },
    /** Replaces the socket of a connection. */
    replace: (before: Socket, after: Socket): void => {
      const connection = known.get(before);
      if (connection === undefined) return;
      known.delete(before);
      connection.socket = after;
      known.set(after, connection);
    },
    moveToEnd: (socket: Socket, connection: Connection): void => {
      known.delete(socket);
      known.set(socket, connection);
    },
    remove: (socket: Socket): void => {
      const client = known.get(socket)?.client;
      if (!known.delete(socket) || client === undefined) return;
      const left = countOf(client) - 1;
      if (left > 0) perClient.set(client, left);
      else perClient.delete(client);
    },
  };
}

/** Makes room for a connection of the client if needed; the reason if there is none. */
function makeRoom(
  table: ConnectionTable,
  client: string | undefined,
  { connections, connectionsPerAddress, refused }: ConnectionOptions,
): RefusalReason | undefined {
  if (client !== undefined && connectionsPerAddress > 0 && table.countOf(client) >= connectionsPerAddress) {
    return closeLongestIdle(table, refused, client) ? undefined : 'connections-per-address';
  }
  if (table.known.size < connections) return undefined;
  return closeLongestIdle(table, refused) ? undefined : 'connections';
}

/** Closes one connection, of the client if given. False if all have a request in progress. */
function closeLongestIdle(table: ConnectionTable, refused: Refusals, client?: string): boolean {
  for (const [socket, connection] of table.known) {
    const isOfClient = client === undefined || connection.client === client;
    if (isOfClient && !connection.responses.some(isInProgress)) {
      refused['connection-gave-way'] += 1;
      table.remove(socket);
      socket.destroy();
      return true;
    }
  }
  return false;
}

const LINGER_MS = 1_000;
const MAX_LINGERING = 500;
let lingering = 0;

/**
 * Sends a last response and closes the connection, at the latest after LINGER_MS. If too many connections
 * linger, it closes without a response: refusing must cost less than serving.
 */
export function closeWithResponse(socket: Socket, bytes: string): void {
  if (lingering >= MAX_LINGERING) {
    socket.destroy();
    return;
  }
  lingering += 1;
  const overdue = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => {
    lingering -= 1;
    clearTimeout(overdue);
  });
  socket.end(bytes);
}
