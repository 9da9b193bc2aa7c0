/** Messages to a bot as two gateways get them: many, repeated, and while the run store does not answer. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isUnavailable } from '../../../store/connection.ts';
import { readCounts } from '../../../runs/read.ts';
import { putBot, SHOWN } from '../../support/gateway/botRoutes.ts';
import {
  NAMESPACE,
  startGatewayHarness,
  PROJECT,
  workflowUid,
  type GatewayHarness,
} from '../../support/gateway/gatewayHarness.ts';
import { startGateway, type GatewayProcess } from '../../support/gateway/gatewayProcess.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { stopwatch } from '../../support/time/stopwatch.ts';

let harness: GatewayHarness;
let gateways: GatewayProcess[];

beforeAll(async () => {
  harness = await startGatewayHarness();
  await putBot(harness.client, 'answers', 'helper');
  const { api, redis } = harness;
  const second = await startGateway({
    kubeconfigPath: api.kubeconfigPath,
    redisURL: redis.url,
    pod: 'gateway-second',
    namespace: NAMESPACE,
  });
  gateways = [harness.gateway, second];
  for (const gateway of gateways)
    await pollUntil('the bot', async () => (await send(gateway, {})).status === 200, { timeoutMs: 10_000 });
});

afterAll(async () => {
  await gateways?.[1]?.stop();
  await harness?.close();
});

const update = (id: number) => ({
  update_id: id,
  message: {
    message_id: id,
    date: 1,
    chat: { id: 5, type: 'private' },
    from: { first_name: 'Ada' },
    text: `message ${id}`,
  },
});

function send({ publicURL }: Pick<GatewayProcess, 'publicURL'>, body: object): Promise<Response> {
  return fetch(`${publicURL}/bot/${NAMESPACE}.helper`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...SHOWN },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  });
}

async function runOf(answer: Response): Promise<string | undefined> {
  return ((await answer.json()) as { run?: string }).run;
}

/** There is no runner, so that none has ended. */
async function acceptedRuns(): Promise<number> {
  const counts = await readCounts(harness.runs, PROJECT, workflowUid('answers'));
  if (isUnavailable(counts)) throw new Error('the run store does not answer');
  return counts.active;
}

test('300 messages, each sent three times to both gateways in any order, are one run each', async () => {
  const before = await acceptedRuns();
  const ids = Array.from({ length: 900 }, (_each, at) => 1_000 + ((at * 7) % 300));
  const runs = new Map<number, Set<string | undefined>>();
  const sender = async (from: number): Promise<void> => {
    for (let at = from; at < ids.length; at += 20) {
      const id = ids[at] ?? 0;
      const gateway = gateways[(at + Math.floor(at / 300)) % 2] ?? harness.gateway;
      const answer = await send(gateway, update(id));
      expect(answer.status).toBe(200);
      runs.set(id, (runs.get(id) ?? new Set()).add(await runOf(answer)));
    }
  };
  await Promise.all(Array.from({ length: 20 }, (_each, from) => sender(from)));
  const names = [...runs.values()].flatMap((each) => [...each]);
  expect([runs.size, names.length, new Set(names).size]).toEqual([300, 300, 300]);
  expect(await acceptedRuns()).toBe(before + 300);
});

test('while the run store does not answer, messages are refused within a second, and repeated ones are one run', async () => {
  const before = await acceptedRuns();
  harness.redis.freeze();
  const took = stopwatch();
  const answers = await Promise.all(gateways.map((gateway) => send(gateway, update(7))));
  const tookMs = took();
  harness.redis.thaw();
  expect(answers.map(({ status }) => status)).toEqual([503, 503]);
  expect(answers.map(({ headers }) => headers.get('retry-after'))).toEqual(['1', '1']);
  // Half a second more for a machine that is busy with other tests.
  expect(tookMs).toBeLessThan(1_500);
  const runs = new Set<string | undefined>();
  for (const gateway of gateways)
    await pollUntil(
      'the message being taken',
      async () => {
        const answer = await send(gateway, update(7));
        if (answer.status === 200) runs.add(await runOf(answer));
        return answer.status === 200;
      },
      { timeoutMs: 10_000 },
    );
  expect(runs.size).toBe(1);
  expect(await acceptedRuns()).toBe(before + 1);
});
