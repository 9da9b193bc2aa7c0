/** What both HTTP clients do when a server accepts a connection and says nothing. */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { NotSentError } from './httpPool.ts';
import { createNodePool } from './nodePool.ts';
import { createUndiciPool } from './undiciPool.ts';

test.each([
  { of: 'Node', createPool: createNodePool },
  { of: 'undici', createPool: createUndiciPool },
])(
  'with the HTTP client of $of a TLS handshake that does not end is given up, and nothing was sent',
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
