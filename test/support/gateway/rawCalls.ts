/**
 * Requests as an attacker writes them: nothing is resolved, escaped or hidden, and all that comes back is
 * given as it came.
 */
import { request as httpRequest, type OutgoingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import type { ApiServer } from '../cluster/apiserver.ts';

/** A request as it is written: nothing of its path is resolved or escaped. */
export type Ask = {
  path: string;
  method?: string;
  token?: string;
  headers?: OutgoingHttpHeaders;
  body?: string;
};

/** Sends it to a listener of the gateway; gives status, headers and body as one text. */
export function ask(url: string, { path, method = 'GET', token, headers = {}, body }: Ask): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      {
        hostname,
        port,
        path,
        method,
        agent: false,
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
      },
      (response) => {
        let text = `${response.statusCode} ${JSON.stringify(response.headers)}\n`;
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => resolve(text));
        response.on('error', reject);
      },
    );
    sent.setTimeout(20_000, () => sent.destroy(new Error('no answer')));
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Sends it to the API server. */
export function callApi(
  { url, connection }: Pick<ApiServer, 'url' | 'connection'>,
  { path, method = 'GET', token = '', headers = {}, body }: Ask,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = httpsRequest(
      url + path,
      {
        method,
        ca: connection.ca,
        agent: false,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': contentTypes[method] ?? 'application/json' }),
          ...headers,
        },
      },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
        response.on('error', reject);
      },
    );
    sent.setTimeout(20_000, () => sent.destroy(new Error('no answer')));
    sent.on('error', reject);
    sent.end(body);
  });
}

const contentTypes: Record<string, string> = { PATCH: 'application/merge-patch+json' };

/**
 * What Redis sends back, as it came: to the login of an account and then to the commands, until it has taken
 * all of them.
 */
export function askRedis(
  port: number,
  { username, password }: { username: string; password: string },
  ...commands: readonly string[][]
): Promise<string> {
  const last = 'that-was-all';
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    const settle = (): void => {
      socket.destroy();
      resolve(text);
    };
    socket.setTimeout(10_000, () => socket.destroy(new Error(`no answer: ${text}`)));
    socket.on('error', reject);
    socket.on('close', settle);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (text.includes(last) || /NOAUTH[^\n]*\n$/.test(text)) settle();
    });
    for (const command of [['AUTH', username, password], ...commands, ['PING', last]])
      socket.write(encodeCommand(command));
  });
}

function encodeCommand(command: readonly string[]): string {
  const words = command.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
  return `*${command.length}\r\n${words.join('')}`;
}
