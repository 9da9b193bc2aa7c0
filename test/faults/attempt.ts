/**
 * One request of the sender and what came of it: on a connection of its own, or on one that is kept for the
 * next.
 */
import { Agent, request as httpRequest } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import type { Attempt } from './evidence.ts';

export type Outgoing = { url: string; body: string; headers: Record<string, string> };

export type Attempts = {
  send(outgoing: Outgoing, connection: Attempt['connection']): Promise<Attempt>;
  close(): void;
};

/** As GitHub and others have it: who does not answer within ten seconds did not take the event. */
const TIMEOUT_MS = 10_000;
const CONNECTIONS = 256;
/** The error of an attempt that the sender gave up. */
export const NO_ANSWER = 'no answer in time';

/** Keeps at most 256 connections open: so many that no request waits for one. */
export function createAttempts(timeoutMs = TIMEOUT_MS): Attempts {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, scheduling: 'fifo' });
  return {
    send: async (outgoing, connection) => {
      const at = Date.now();
      const started = performance.now();
      const outcome = await exchange(outgoing, connection === 'kept' ? agent : false, timeoutMs).catch(
        (error: unknown) => ({ error: describe(error) }),
      );
      return { at, ms: Math.round(performance.now() - started), connection, ...outcome };
    },
    close: () => agent.destroy(),
  };
}

type Outcome = Pick<Attempt, 'status' | 'run' | 'event' | 'problem' | 'retryAfter'>;

function exchange(
  { url, body, headers }: Outgoing,
  agent: Agent | false,
  timeoutMs: number,
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, {
      method: 'POST',
      agent,
      headers: { 'content-type': 'application/json', ...headers },
    });
    // Not by an abort signal: those of a thousand requests would take a fifth of the sender's processor time.
    const timer = setTimeout(() => request.destroy(new Error(NO_ANSWER)), timeoutMs);
    request.on('close', () => clearTimeout(timer));
    request.on('error', reject);
    request.on('response', (response) => {
      const { statusCode: status = 0, headers: answered } = response;
      textOf(response).then((text) => resolve({ status, ...read(text, answered['retry-after']) }), reject);
    });
    request.end(body);
  });
}

function read(text: string, retryAfter: string | undefined): Omit<Outcome, 'status'> {
  const answer = parse(text);
  return {
    ...(typeof answer['run'] === 'string' && { run: answer['run'] }),
    ...(typeof answer['event'] === 'string' && { event: answer['event'] }),
    ...(typeof answer['type'] === 'string' && { problem: answer['type'].split('/').at(-1) }),
    ...(retryAfter !== undefined && { retryAfter: Number(retryAfter) }),
  };
}

function parse(text: string): Record<string, unknown> {
  try {
    const answer: unknown = JSON.parse(text);
    return typeof answer === 'object' && answer !== null ? (answer as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return (error as NodeJS.ErrnoException).code ?? error.message;
}
