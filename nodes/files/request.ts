/**
 * One HTTP request to a store of files. The path goes out as it is given: callers refuse names that hold what a URL would resolve (`../`). No
 * redirect is followed, what is read is bounded, and messages name the host and never the path or what was sent.
 */
import type { Readable } from 'node:stream';
import { StepError } from '../../api/reasons.ts';
import { dispatcherThrough, isOfConnected } from '../egress/connect.ts';
import type { Egress } from '../egress/egress.ts';
import { mayHaveArrived } from '../skills/http/failure.ts';

/** What a request goes through, and what ends it. */
export type Wire = { egress: Egress; signal: AbortSignal };

export type Outgoing = {
  /** Scheme, host and port. */
  origin: string;
  /** With the query, encoded. */
  path: string;
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH';
  headers: Readonly<Record<string, string>>;
  body?: Buffer;
};

export type Incoming = { host: string; status: number; headers: Headers; body: Readable };

/** The connection failed. */
export class BrokenOff extends StepError {
  /** Whether the request may have come to the other side. */
  readonly mayHaveArrived: boolean;

  constructor(message: string, error: unknown) {
    super('Unreachable', message);
    this.mayHaveArrived = mayHaveArrived(error);
  }
}

/**
 * Sends it. The body of the answer must be read or dropped.
 * @throws StepError `Unreachable`, `InvalidAnswer`, `AddressForbidden`; the signal's reason
 */
export async function send({ origin, path, method, headers, body }: Outgoing, wire: Wire): Promise<Incoming> {
  const { host } = new URL(origin);
  try {
    const answer = await dispatcherThrough(wire.egress).request({
      origin,
      path,
      method,
      headers: { 'user-agent': 'Windlass', ...headers },
      body: body ?? null,
      signal: wire.signal,
    });
    return { host, status: answer.statusCode, headers: headersOf(answer.headers), body: answer.body };
  } catch (error) {
    throw brokenOff(error, host, wire.signal);
  }
}

function headersOf(given: Record<string, string | string[] | undefined>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given))
    for (const each of [value ?? []].flat()) headers.append(name, each);
  return headers;
}

/** Leaves the rest of the answer unread. */
export function drop({ body }: Incoming): void {
  body.on('error', () => undefined).destroy();
}

/**
 * The body; undefined where it has more bytes, and then no more was read.
 * @throws StepError `Unreachable`; the signal's reason
 */
export async function readUpTo(answer: Incoming, most: number, wire: Wire): Promise<Buffer | undefined> {
  if (Number(answer.headers.get('content-length') ?? 0) > most) {
    drop(answer);
    return undefined;
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > most) return undefined;
    }
  } catch (error) {
    throw brokenOff(error, answer.host, wire.signal);
  }
  return Buffer.concat(chunks);
}

function brokenOff(error: unknown, host: string, signal: AbortSignal): Error {
  if (signal.aborted && signal.reason instanceof Error) return signal.reason;
  if (error instanceof StepError) return error;
  const code = codeOf(error);
  if (code.startsWith('HPE_') || code === 'UND_ERR_HEADERS_OVERFLOW')
    return new StepError('InvalidAnswer', `the answer of ${host} is no HTTP that can be read: ${code}`);
  const what = isOfConnected(error) ? `the connection with ${host} broke off` : `no answer from ${host}`;
  return new BrokenOff(`${what}: ${code}`, error);
}

/** The parser of HTTP has no codes, but a name. */
function codeOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  if (typeof code === 'string') return code;
  return name === 'HTTPParserError' ? 'HPE_INVALID' : 'the connection was lost';
}
