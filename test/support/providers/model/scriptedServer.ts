/**
 * A server of a model that answers as tests script it, in the wire format of a provider. Each request takes
 * the next answer of the script.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { listen, readBody, sendJson } from '../../network/listen.ts';

type ScriptedCall = { id: string; name: string; arguments: string };

/** A message of the model. `signature`: what the provider adds to thinking or calls, and wants back. */
export type ScriptedMessage = {
  text?: string;
  calls?: readonly ScriptedCall[];
  signature?: string;
  /** A text of refusal. */
  refusal?: string;
  /** Why the message ends, in common words, or in a word that no provider has. */
  finish?: 'done' | 'cut' | 'refused' | 'novel_reason';
};

export type ScriptedAnswer =
  | { message: ScriptedMessage }
  /** A message that stops after some of its pieces: the stream ends, breaks, or falls silent. */
  | {
      message: ScriptedMessage;
      pieces: number;
      after: 'end' | 'break' | 'silence' | 'error' | 'garbage' | 'ping';
    }
  | { status: number; text: string; headers?: Record<string, string>; details?: unknown }
  /** Another body with status 200. */
  | { body: string; type: string }
  | { nothing: true };

/** The wire format of a provider. */
export type Wire = {
  path: string;
  list: string;
  models: readonly string[];
  /** The key that the request shows. */
  keyOf: (headers: IncomingHttpHeaders) => string | undefined;
  /** Why the server refuses the request, whatever the script says. */
  refusalOf?: (body: Record<string, unknown>, headers: IncomingHttpHeaders) => string | undefined;
  /** The pieces of a streamed message, as they are sent. */
  piecesOf: (message: ScriptedMessage, body: Record<string, unknown>) => string[];
  /** An error within a stream. */
  errorPiece: (text: string) => string;
  /** A sign of life. */
  ping: string;
  errorBody: (status: number, text: string, details?: unknown) => unknown;
};

export type ScriptedServer = {
  url: string;
  requests: { body: Record<string, unknown>; headers: IncomingHttpHeaders }[];
  /** Sets the answers of the next requests. */
  script(...answers: ScriptedAnswer[]): void;
  close(): Promise<void>;
};

export const SCRIPTED_KEY = 'test-secret';
const PING_MS = 100;
const PINGS = 15;

export async function startScriptedServer(wire: Wire): Promise<ScriptedServer> {
  const answers: ScriptedAnswer[] = [];
  const requests: ScriptedServer['requests'] = [];
  const http = await listen(async (request, response) => {
    const text = await readBody(request);
    if (wire.keyOf(request.headers) !== SCRIPTED_KEY)
      return sendJson(response, 401, wire.errorBody(401, `wrong key ${wire.keyOf(request.headers)}`));
    if (request.method === 'GET' && request.url?.split('?')[0] === wire.list)
      return sendJson(response, 200, { data: wire.models.map((id) => ({ id })) });
    if (request.url !== wire.path) return sendJson(response, 404, wire.errorBody(404, 'not found'));
    const body = JSON.parse(text) as Record<string, unknown>;
    requests.push({ body, headers: request.headers });
    const refusal = wire.refusalOf?.(body, request.headers);
    if (refusal !== undefined) return sendJson(response, 400, wire.errorBody(400, refusal));
    const answer = answers.shift();
    if (!answer) return sendJson(response, 500, wire.errorBody(500, 'the script has ended'));
    await play(answer, { wire, request, response, body });
  });
  return {
    url: http.url,
    requests,
    script: (...next) => {
      requests.length = 0;
      answers.splice(0, answers.length, ...next);
    },
    close: () => http.close(),
  };
}

type Playing = {
  wire: Wire;
  request: IncomingMessage;
  response: ServerResponse;
  body: Record<string, unknown>;
};

async function play(answer: ScriptedAnswer, { wire, response, body }: Playing): Promise<void> {
  if ('nothing' in answer) return;
  if ('status' in answer) {
    const { status, text, details, headers } = answer;
    return sendJson(response, status, wire.errorBody(status, text, details), headers);
  }
  if ('body' in answer) {
    response.writeHead(200, { 'content-type': answer.type }).end(answer.body);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const all = wire.piecesOf(answer.message, body);
  const pieces = 'pieces' in answer ? all.slice(0, answer.pieces) : all;
  for (const piece of pieces)
    if (!response.write(piece)) await new Promise((drained) => response.once('drain', drained));
  if (!('after' in answer) || answer.after === 'end') response.end();
  // What was written so far arrives first.
  else if (answer.after === 'break') response.write(':\n', () => response.destroy());
  else if (answer.after === 'error') response.end(wire.errorPiece('Overloaded'));
  else if (answer.after === 'garbage') response.end('event: content_block_delta\ndata: {"choices": [\n\n');
  else if (answer.after === 'ping') pingAndEnd(response, all.slice(answer.pieces), wire.ping);
}

/** Some signs of life, and then the rest. */
function pingAndEnd(response: ServerResponse, rest: readonly string[], ping: string): void {
  let pings = 0;
  const timer = setInterval(() => {
    pings += 1;
    if (pings < PINGS) response.write(ping);
    else {
      clearInterval(timer);
      response.end(rest.join(''));
    }
  }, PING_MS);
  response.once('close', () => clearInterval(timer));
}
