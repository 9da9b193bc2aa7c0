/** Two HTTP servers that the skill `http_request` can be tried on, and the ways to try it. */
import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { expect } from 'vitest';
import type { CredentialSpec } from '../../../api/credential.ts';
import { StepError } from '../../../api/reasons.ts';
import type { StepContext, StepResult } from '../../../nodes/contract/node.ts';
import { findSkill } from '../../../nodes/register.ts';
import { listen, readBody, sendJson } from '../network/listen.ts';
import { stepContext } from './stepContext.ts';

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;
type Seen = { method: string; url: string; headers: IncomingHttpHeaders; body: string };
type Options = Omit<Partial<StepContext>, 'credential'> & {
  /** May be sent anywhere unless it names hosts. */
  credential?: CredentialSpec;
  secrets?: Record<string, string>;
};

export type HttpTarget = {
  url: string;
  /** Another origin, with the same behaviour. */
  otherURL: string;
  /** What arrived at both. */
  seen: Seen[];
  /** What is answered from now on; left out: JSON. */
  answer(handler?: Handler): void;
  /** Executes the skill; the URL is that of the server unless another is given. */
  call(parameters: object, options?: Options): Promise<StepResult>;
  /** The error that the skill ends with. Throws when it does not. */
  failure(parameters: object, options?: Options): Promise<StepError>;
  close(): Promise<unknown>;
};

export async function startHttpTarget(): Promise<HttpTarget> {
  const seen: Seen[] = [];
  const usual: Handler = (_request, response) => sendJson(response, 200, { ok: true });
  let handler = usual;
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = request;
    seen.push({ method, url, headers, body: await readBody(request) });
    handler(request, response);
  };
  const server = await listen(serve);
  const other = await listen(serve);
  const call: HttpTarget['call'] = (parameters, { credential, ...rest } = {}) => {
    const given = { url: `${server.url}/`, ...parameters };
    const context = stepContext(withHosts(credential ?? {}), rest);
    return findSkill('http_request')!.execute(given, context, credential && 'api');
  };
  return {
    url: server.url,
    otherURL: other.url,
    seen,
    answer: (next = usual) => {
      seen.length = 0;
      handler = next;
    },
    call,
    failure: async (parameters, options) => {
      const error: unknown = await call(parameters, options).then(
        () => new Error('it did not fail'),
        (error: unknown) => error,
      );
      expect(error).toBeInstanceOf(StepError);
      return error as StepError;
    },
    close: () => Promise.all([server.close(), other.close()]),
  };
}

function withHosts(spec: CredentialSpec): CredentialSpec {
  const { http, oauth2 } = spec;
  const allowedHosts = ['*', 'http://*'];
  if (http) return { http: { allowedHosts, ...http } };
  return oauth2 ? { oauth2: { allowedHosts, ...oauth2 } } : spec;
}

/** A handler that answers this. */
export const answering =
  (status: number, headers: Record<string, string>, body: string | Buffer = ''): Handler =>
  (_request, response) =>
    void response.writeHead(status, headers).end(body);

/** A server that sends these bytes as soon as something arrives; left out: closes. */
export async function startRawServer(answer?: string): Promise<{ url: string; close(): void }> {
  const raw = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => (answer === undefined ? socket.destroy() : socket.end(answer)));
  }).listen(0, '127.0.0.1');
  await once(raw, 'listening');
  return { url: `http://127.0.0.1:${(raw.address() as AddressInfo).port}/`, close: () => raw.close() };
}
