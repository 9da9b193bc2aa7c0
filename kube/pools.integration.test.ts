/** Both HTTP clients with a server that accepts a connection and never answers. */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { NotSentError } from './httpPool.ts';
import { createNodePool } from './nodePool.ts';
import { createUndiciPool } from './undiciPool.ts';

test.each([
  { client: 'Node', createPool: createNodePool },
  { client: 'undici', createPool: createUndiciPool },
])(
  'the HTTP client of $client ends a TLS handshake after the time limit, and has sent nothing',
  async ({ createPool }) => {
    const silent = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const pool = createPool({ origin: `https://127.0.0.1:${port}`, tls: {}, connectMs: 100 });
    const request = { method: 'POST', path: '/', headers: {}, body: 'text', signal: undefined };
    await expect(pool.request({ ...request, headersMs: 60_000 })).rejects.toBeInstanceOf(NotSentError);
    const closed = once(silent, 'close');
    await pool.close();
    silent.close();
    await closed;
  },
);
