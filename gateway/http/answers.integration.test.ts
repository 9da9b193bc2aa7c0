import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createGatewayDeps } from '../../test/support/gateway/gatewayDeps.ts';
import { createLimits } from '../limits/limits.ts';
import { limitSettings } from '../limits/settings.ts';
import { listen } from '../listen.ts';
import { buildInternal } from '../server.ts';

/** More than the buffers of both sides of a connection take. */
const LARGE = 'a'.repeat(24_000_000);
const RECORD = {
  apiVersion: 'windlass.dev/v1alpha1',
  kind: 'WorkflowRun',
  metadata: { name: 'orders-1', namespace: 'shop' },
  spec: { workflow: 'orders' },
  status: { phase: 'Failed', message: LARGE },
};

test('unread answers of authorised callers are bounded like requests', async () => {
  const { deps, close } = createGatewayDeps();
  const limits = createLimits(limitSettings.parse({ inFlightBytes: 1_048_576 }), []);
  const client = { find: async () => RECORD } as unknown as typeof deps.client;
  const app = buildInternal({ ...deps, limits, client });
  const port = await listen(app, 0, '127.0.0.1');
  const callers: Socket[] = [];
  const ask = async (): Promise<Socket> => {
    const accepted = once(app.server, 'connection') as Promise<[Socket]>;
    const caller = connect(port, '127.0.0.1').pause();
    callers.push(caller);
    caller.write('GET /workflows/shop.orders/runs/orders-1 HTTP/1.1\r\nHost: gateway\r\n\r\n');
    return (await accepted)[0];
  };
  try {
    const first = await ask();
    const isGone = once(first, 'close');
    const second = await ask();
    await isGone;
    expect(second.destroyed).toBe(false);
  } finally {
    for (const caller of callers) caller.destroy();
    await app.close();
    close();
  }
});
