import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { createGatewayDeps } from '../../test/support/gatewayDeps.ts';
import { problemType } from '../problems.ts';
import { buildInternal } from '../server.ts';
import { eventText } from './events.ts';

test('an event is one block whatever its text holds', () => {
  const block = eventText({ id: '1-0', type: 'text', node: 'agent_1', text: 'a\n\ndata: b\r', at: 5 });
  expect(block).toBe('id: 1-0\nevent: text\ndata: {"node":"agent_1","text":"a\\n\\ndata: b\\r","at":5}\n\n');
});

test('who follows a run waits for it, and takes the place of one who waits: of one project no more than half', async () => {
  const { deps, close } = createGatewayDeps();
  const head = { workflow: 'orders', revision: 'orders-1', trigger: 'webhook', test: false };
  const fields = { phase: 'Running', accepted: '1', head: JSON.stringify(head) };
  const command = async (name: string) => (name === 'hgetall' ? fields : 0);
  const app = buildInternal({ ...deps, runs: { ...deps.runs, command } });
  const waiting = { destroyed: false, once: () => undefined } as unknown as ServerResponse;
  while (deps.limits.waits.enter('project', waiting));
  const { statusCode, json } = await app.inject('/workflows/shop.orders/runs/orders-1/events');
  expect([statusCode, json<{ type: string }>().type]).toEqual([503, problemType('too-many-waiting')]);
  await app.close();
  close();
});
