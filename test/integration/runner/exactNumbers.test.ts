/** A number that a double cannot represent, from the webhook to the record, through every program. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { WorkflowRun } from '../../../api/kinds.ts';
import { isTerminal } from '../../../api/phase.ts';
import { workflowRuns } from '../../../operator/shared/resources.ts';
import { listen, readBody, type Listening } from '../../support/network/listen.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { startWholeSystem, type WholeSystem } from '../../support/system/wholeSystem.ts';

const ID = '12345678901234567890';
const PRICE = '0.1000000000000000055511151231257827';
const INT64 = '-9223372036854775807';
/** Sorted, as the API server sorts the members of objects. */
const EVENT = `{"id":${ID},"int64":${INT64},"items":[{"count":2,"price":${PRICE}}]}`;
const EXACT = {
  '/data_content/id': ID,
  '/data_content/items/0/price': PRICE,
  '/data_content/int64': INT64,
};

let system: WholeSystem;
let echo: Listening;
const received: string[] = [];

beforeAll(async () => {
  system = await startWholeSystem();
  echo = await listen(async (request, response) => {
    const body = await readBody(request);
    received.push(body);
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  const nodes = [
    { id: 'trigger', webhook: { path: 'new' } },
    {
      id: 'call',
      skill: {
        name: 'http_request',
        parameters: { method: 'POST', url: echo.url, body: "{{ $('trigger').data_content }}" },
      },
    },
    {
      id: 'calc',
      skill: {
        name: 'set',
        parameters: {
          values: {
            same: 'nodes.call.data_content.body.id == nodes.trigger.data_content.id',
            text: 'string(nodes.trigger.data_content.id)',
            prices: 'nodes.call.data_content.body.items.map(i, i.price)',
          },
        },
      },
    },
    {
      id: 'reply',
      response: {
        body: {
          text: "no. {{ $('trigger').data_content.id }}",
          event: "{{ $('call').data_content.body }}",
          calc: "{{ $('calc').data_content }}",
        },
      },
    },
  ];
  const kind = { apiVersion: 'windlass.dev/v1alpha1', kind: 'Workflow', metadata: { name: 'exact' } };
  await system.harness.apply(system.namespace, stringify({ ...kind, spec: { active: true, nodes } }));
  await system.harness.waitFor(system.namespace, 'exact', { type: 'Ready', status: 'True' });
}, 600_000);

afterAll(async () => {
  await echo?.close();
  await system?.stop();
});

const recordOf = (name: string) =>
  system.harness.client.find(workflowRuns, { namespace: system.namespace, name });

function ended(name: string): Promise<WorkflowRun> {
  const readEnd = async () => {
    const record = await recordOf(name);
    return isTerminal(record?.status?.phase) && record;
  };
  return pollUntil(`the end of ${name}`, readEnd, { timeoutMs: 60_000, everyMs: 50 });
}

const outputOf = (record: WorkflowRun, id: string) =>
  record.status?.nodes?.find((node) => node.id === id)?.output;

let run = '';

test('a webhook event reaches the request, its answer, the expressions and the response with every digit', async () => {
  const post = () =>
    fetch(`${system.gateway.publicURL}/webhook/${system.namespace}.exact/new`, {
      method: 'POST',
      body: EVENT,
      headers: { 'content-type': 'application/json' },
    });
  const answer = await pollUntil(
    'the reply',
    async () => {
      const response = await post();
      return response.status === 200 && response;
    },
    { timeoutMs: 60_000 },
  );
  expect(await answer.text()).toBe(
    `{"calc":{"prices":[${PRICE}],"same":true,"text":"${ID}"},"event":${EVENT},"text":"no. ${ID}"}`,
  );
  expect(new Set(received)).toEqual(new Set([EVENT]));
}, 120_000);

test('its record has the digits that the API server rounds', async () => {
  const found = async () => {
    const { items } = await system.harness.client.listAll(workflowRuns, { namespace: system.namespace });
    return items.find(({ spec }) => spec.workflow === 'exact')?.metadata.name;
  };
  run = await pollUntil('the record', found, { timeoutMs: 60_000, everyMs: 50 });
  const record = await ended(run);
  expect(record.status?.phase).toBe('Succeeded');
  expect(record.spec.input?.exact).toEqual(EXACT);
  expect(record.spec.input?.data_content).toMatchObject({
    id: Number(ID),
    items: [{ price: 0.1, count: 2 }],
  });
  expect(outputOf(record, 'trigger')?.exact).toEqual(EXACT);
  expect(outputOf(record, 'calc')?.exact).toEqual({ '/data_content/prices/0': PRICE });
  expect(new Set(Object.values(outputOf(record, 'call')?.exact ?? {}))).toEqual(
    new Set(Object.values(EXACT)),
  );
}, 90_000);

test('a run that repeats it from its record is given every digit', async () => {
  received.length = 0;
  const name = `${run}-again`.slice(-60);
  await system.harness.client.create(workflowRuns, {
    metadata: { name, namespace: system.namespace },
    spec: { workflow: 'exact', retryOf: run },
  });
  const record = await ended(name);
  expect(record.status?.phase).toBe('Succeeded');
  expect(received).toEqual([EVENT]);
  expect(outputOf(record, 'trigger')?.exact).toEqual(EXACT);
}, 90_000);
