/**
 * A proxy to a provider that is asked by HTTP. What passes does so unchanged, with its own `Host`, so that
 * what is signed stays so.
 */
import { request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { listen } from '../network/listen.ts';
import { createFaults } from './requestFaults.ts';
import { RETRY_AFTER, type ProviderProxy } from './provider.ts';

/** The body of an answer with that status, as the provider's documentation has it. */
export type Refusal = (status: number) => { type: string; body: string };

const STATUS = {
  unauthorized: 401,
  forbidden: 403,
  notFound: 404,
  gone: 410,
  tooManyRequests: 429,
  unavailable: 503,
} as const;
const GARBAGE = '<html>captive portal</html>';
const PIECE = Buffer.alloc(65_536, 'x');

/** Starts it, in front of the server at that URL. */
export async function startHttpProxy(upstream: string, refusal: Refusal): Promise<ProviderProxy> {
  const { hostname, port } = new URL(upstream);
  const faults = createFaults();
  let taken = 0;

  function refuse(response: ServerResponse, status: number): void {
    const { type, body } = refusal(status);
    const wait = status === 429 && { 'retry-after': String(RETRY_AFTER) };
    response.writeHead(status, { 'content-type': type, ...wait }).end(body);
  }

  function pass(request: IncomingMessage, response: ServerResponse): void {
    const { method, url: path, headers } = request;
    const onward = ask({ hostname, port, method, path, headers, agent: false }, (answer) => {
      // Whoever asked may have left meanwhile.
      if (response.destroyed) return void answer.destroy();
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      pipeline(answer, response, () => undefined);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  }

  function pour(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.on('drain', more).on('error', () => undefined);
    more();
    function more(): void {
      taken += PIECE.length;
      if (response.write(PIECE)) setImmediate(more);
    }
  }

  const server = await listen((request, response) => {
    const fault = faults.next();
    if (fault === undefined) pass(request, response);
    else if (fault === 'lost') request.socket.destroy();
    else if (fault === 'garbage') response.writeHead(200, { 'content-type': 'text/html' }).end(GARBAGE);
    else if (fault === 'endless') pour(response);
    else if (fault !== 'silence') refuse(response, STATUS[fault]);
  });
  return { ...faults.told, port: server.port, takenBytes: () => taken, close: () => server.close() };
}
