/**
 * What clients that mean no good do to a gateway, by name: the program of `hostileProcess.ts` does one of it
 * until it is ended.
 */
import type { Socket } from 'node:net';
import { NAMESPACE } from '../support/gateway/gatewayHarness.ts';
import { dripping, flooding, type AttackOptions } from '../support/gateway/hostileClients.ts';

/** The project whose webhooks are flooded, beside that of the caller that is measured. */
export const FLOODED = 'flooded';

type Kind = Omit<AttackOptions, 'port'>;

const head = (namespace: string, workflow: string): string =>
  `POST /webhook/${namespace}.${workflow}/new HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
const HEAD = head(NAMESPACE, 'orders');
const GIB = 2 ** 30;
/** After which one comes again whose large body was refused. */
const REFUSED_MS = 5_000;
const SPACES = Buffer.alloc(65_536, ' ');
const CHUNK = Buffer.concat([Buffer.from('10000\r\n'), SPACES, Buffer.from('\r\n')]);

/** Sends the request, and again as soon as anything has come back. */
function overAndOver(request: string): AttackOptions['behave'] {
  const bytes = Buffer.from(request);
  return (socket, send) => {
    socket.on('data', () => send(bytes));
    send(bytes);
  };
}

const LIES = [
  'Content-Length: 500000\r\n\r\n{}',
  `Content-Length: 2\r\n\r\n{}${'{}'.repeat(1_000)}`,
  'Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
  'Content-Length: -1\r\n\r\n{}',
  'Content-Length: 0x2\r\n\r\n{}',
  'Content-Length: +2\r\n\r\n{}',
].map((lie) => Buffer.from(HEAD + lie));
let lies = 0;

function lying(_socket: Socket, send: (bytes: Buffer) => boolean): void {
  lies += 1;
  send(LIES[lies % LIES.length] ?? Buffer.of());
}

/** Sends many requests at once, and reads none of the answers. */
function deaf(request: string, times: number): AttackOptions['behave'] {
  return (socket, send) => {
    socket.pause();
    send(Buffer.from(request.repeat(times)));
  };
}

const whole = (namespace: string, workflow: string): string =>
  `${head(namespace, workflow)}Content-Length: 2\r\n\r\n{}`;

export const KINDS: Record<string, Kind> = {
  'headers at a byte a second': { connections: 1_000, againMs: 100, behave: dripping(HEAD) },
  'bodies at a byte a second': {
    connections: 1_000,
    againMs: 100,
    behave: (socket, send) => {
      send(Buffer.from(`${HEAD}Content-Length: 1000\r\n\r\n`));
      dripping('[1,1')(socket, send);
    },
  },
  'bodies of 1 GiB': {
    connections: 1_000,
    againMs: REFUSED_MS,
    behave: flooding(`${HEAD}Content-Length: ${GIB}\r\n\r\n`, SPACES, GIB),
  },
  'bodies of 1 GiB in chunks': {
    connections: 1_000,
    againMs: REFUSED_MS,
    behave: flooding(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`, CHUNK, GIB),
  },
  'lying lengths': { connections: 1_000, againMs: 1_000, behave: lying },
  'unknown routes': { connections: 32, againMs: 10, behave: overAndOver(whole(NAMESPACE, 'unknown')) },
  "another project's events": { connections: 32, againMs: 10, behave: overAndOver(whole(FLOODED, 'flood')) },
  "another project's waiting callers": {
    connections: 1_000,
    againMs: 1_000,
    behave: deaf(whole(FLOODED, 'asking'), 10),
  },
  'answers that nobody reads': {
    connections: 1_000,
    againMs: 1_000,
    behave: deaf('GET / HTTP/1.1\r\nHost: x\r\n\r\n', 2_000),
  },
};
