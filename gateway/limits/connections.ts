/**
 * The connections of one listener: so many in all, so many of one address. When they are taken, the connection that has
 * been without a whole request for longest gives way to the new one, so that whoever holds connections open and sends
 * nothing, or sends slowly, keeps nobody out. Connections whose request is being worked on are never closed for that. Over TLS a
 * connection counts from its first byte on, before the handshake, which costs the most.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import { isTLSServer, watchHandshakes } from '../tls/server.ts';
import type { RefusalReason, Refusals } from './refusals.ts';
import type { LimitSettings } from './settings.ts';

export type Connections = {
  /** Counts a request. False if it must not be served, because an earlier answer said that the connection ends. */
  beginRequest: (request: IncomingMessage, response: ServerResponse) => boolean;
  /**
   * What comes on this connection can no longer be told apart. True if nothing may be said of that, and the connection ends
   * by itself: answers to whole requests before that are still to come, and whatever is written before them would be taken
   * for one of them; or the request that it happened in was answered already.
   */
  markMalformed: (socket: Socket) => boolean;
  /** From now on every answer ends its connection. */
  drain: () => void;
  open: () => number;
  /** Whether it is one of the open connections; over TLS after its handshake. */
  has: (socket: Socket) => boolean;
};

type Connection = {
  /** What HTTP is spoken on; during a TLS handshake, what was accepted. */
  socket: Socket;
  /** Undefined for a proxy, which speaks for many, so that what holds for a client does not hold for it. */
  client: string | undefined;
  requests: number;
  /** Answers that are not out yet, in the order of their requests; there may be some that are. */
  responses: ServerResponse[];
  isLast: boolean;
};

export type ConnectionOptions = Pick<
  LimitSettings,
  'connections' | 'connectionsPerAddress' | 'requestsPerConnection'
> & {
  isProxy: (address: string) => boolean;
  /** Who is behind an address: one network of IPv6 has more addresses than there are connections. */
  clientOf: (address: string) => string;
  refused: Refusals;
  /** What a connection is told that nothing gives way to: a whole HTTP answer. Over TLS it is closed without one. */
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
      // One that was refused or gave way is ended; one that is not known otherwise did not come through this server.
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

/** Node's own listener goes when a client asks for a tunnel, and then its reset would end the whole process. */
function destroyOnError(socket: Socket): void {
  socket.on('error', () => socket.destroy());
}

/**
 * Answers that a client is sent without having read the ones before. Programs that send several requests at once send a few:
 * each costs what a request of a connection of its own does.
 */
const MAX_PIPELINED = 16;

/** For Node's HTTP parser: what follows is not HTTP. */
const NOT_HTTP = 2;

/**
 * Nothing more of this connection becomes a request, neither what is still to be read nor what was read already: 64 KiB may hold
 * two thousand, each of which would be kept until the connection is closed. Node has no documented way for the second; the parser is told what it
 * is told of a connection that is upgraded (`parserOnIncoming` in Node's lib/_http_server.js).
 */
function stopParsing(socket: Socket): void {
  socket.pause();
  const { parser } = socket as { parser?: { onIncoming: () => number } | null };
  if (parser) parser.onIncoming = () => NOT_HTTP;
}

/** Of a connection that has ended Node closes the answer that is being sent, and forgets those that wait behind it. */
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

/** Whether the whole of a request is here and its answer is not out yet. */
function isInProgress(response: ServerResponse): boolean {
  return response.req.complete && isPending(response);
}

type ConnectionTable = ReturnType<typeof createConnectionTable>;

/** The open connections, in the order in which they began their last request. */
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
    /** From now on the connection is known by another socket. */
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

/** Makes room for a connection of the client where it is needed; why there is none, otherwise. */
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

/** Of one client, or of all. False if all are being worked on. */
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
 * Sends the bytes and ends the connection, on the side of the client too when that does not do it itself. When too many
 * are being told, the connection just ends: to be refused must cost less than to be served.
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
