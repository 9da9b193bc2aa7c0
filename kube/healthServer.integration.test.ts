import { connect } from 'node:net';
import { Gauge, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { serveHealth } from './healthServer.ts';

test('pipelined requests on one connection get one answer, so that unread answers do not fill the memory', async () => {
  let collections = 0;
  const registry = new Registry();
  registry.registerMetric(
    new Gauge({
      name: 'one',
      help: 'Counts collections.',
      registers: [],
      collect: () => {
        collections += 1;
      },
    }),
  );
  const { server, port } = await serveHealth({ port: 0, unready: () => undefined, registry });
  const client = connect(port, '127.0.0.1').on('error', () => undefined);
  const isClosed = new Promise((resolve) => client.once('close', resolve));
  client.write('GET /metrics HTTP/1.1\r\nHost: operator\r\n\r\n'.repeat(500));
  await isClosed;
  expect(collections).toBe(1);
  server.close();
});

test('a program that is not ready answers 503 with the reason, and is alive', async () => {
  const { server, port } = await serveHealth({
    port: 0,
    unready: () => 'the run store does not answer',
    registry: new Registry(),
  });
  const get = (path: string) =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } });
  const ready = await get('/readyz');
  expect([ready.status, await ready.text()]).toEqual([503, 'the run store does not answer\n']);
  expect((await get('/healthz')).status).toBe(200);
  expect((await get('/other')).status).toBe(404);
  server.close();
});
