import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { createMetrics } from './metrics.ts';
import { serveHealth } from './health.ts';

test('who asks for the metrics many times at once, and reads nothing, costs one answer', async () => {
  const { registry } = createMetrics();
  let asked = 0;
  const counting = Object.assign(Object.create(registry) as typeof registry, {
    metrics: () => {
      asked += 1;
      return registry.metrics();
    },
  });
  const { server, port } = await serveHealth(0, { unready: () => undefined, registry: counting });
  const caller = connect(port, '127.0.0.1').on('error', () => undefined);
  const isClosed = new Promise((resolve) => caller.once('close', resolve));
  caller.write('GET /metrics HTTP/1.1\r\nHost: operator\r\n\r\n'.repeat(500));
  await isClosed;
  expect(asked).toBe(1);
  server.close();
});
