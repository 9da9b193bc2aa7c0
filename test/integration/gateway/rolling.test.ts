import { Agent, request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { advance } from '../../../runs/advance.ts';
import { claimRuns } from '../../../runs/claim.ts';
import { startBalancer, type Balancer } from '../../support/network/balancer.ts';
import {
  NAMESPACE,
  startGatewayHarness,
  PROJECT,
  putRoute,
  type GatewayHarness,
} from '../../support/gateway/gatewayHarness.ts';
import { startGateway, type GatewayProcess } from '../../support/gateway/gatewayProcess.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { stopwatch } from '../../support/time/stopwatch.ts';

let harness: GatewayHarness;
let balancer: Balancer;

beforeAll(async () => {
  harness = await startGatewayHarness();
  await putRoute(harness.client, 'orders');
  await putRoute(harness.client, 'asking', { webhook: { reply: true } });
  await pollUntil('the routes', async () => (await fetch(harness.hook('asking'))).status === 405, {
    timeoutMs: 20_000,
  });
  balancer = await startBalancer();
});

afterAll(async () => {
  await balancer?.close();
  await harness?.close();
});

function startReplica(pod: string, env: Record<string, string>): Promise<GatewayProcess> {
  return startGateway({
    kubeconfigPath: harness.api.kubeconfigPath,
    redisURL: harness.redis.url,
    pod,
    namespace: NAMESPACE,
    env,
  });
}

/** One event; its status, or what broke. */
function send(port: number, agent: Agent | false, workflow = 'orders'): Promise<number | string> {
  return new Promise((resolve) => {
    const call = request(
      {
        port,
        host: '127.0.0.1',
        method: 'POST',
        path: `/webhook/${NAMESPACE}.${workflow}/new`,
        headers: { 'content-type': 'application/json' },
        ...(agent !== false && { agent }),
      },
      (answer) => {
        answer.resume();
        answer.on('end', () => resolve(answer.statusCode ?? 0));
        answer.on('error', (error) => resolve(error.message));
      },
    );
    call.on('error', (error) => resolve(error.message));
    call.end('{}');
  });
}

test('a rolling update at 100 requests a second loses no request', async () => {
  const env = { DRAIN_SECONDS: '2', CLOSE_SECONDS: '5' };
  const keeping = new Agent({ keepAlive: true, maxSockets: 20 });
  const once = new Agent({ keepAlive: false });
  let replicas = await Promise.all(['one', 'two'].map((pod) => startReplica(`gateway-${pod}`, env)));
  replicas.forEach(balancer.add);
  const answers: Promise<number | string>[] = [];
  const sender = setInterval(() => {
    answers.push(send(balancer.port, keeping), send(balancer.port, once));
  }, 20);

  for (const old of replicas) {
    const next = await startReplica(`gateway-after-${replicas.indexOf(old)}`, env);
    balancer.add(next);
    replicas = [...replicas.filter((replica) => replica !== old), next];
    expect(await old.stop()).toBe(0);
    balancer.remove(old);
  }
  clearInterval(sender);
  const counts = Object.groupBy(await Promise.all(answers), String);
  expect(Object.keys(counts)).toEqual(['200']);
  expect(answers.length).toBeGreaterThan(300);
  keeping.destroy();
  await Promise.all(replicas.map(({ stop }) => stop('SIGKILL')));
});

test('a hundred waiting callers get their answers from a replica that shuts down', async () => {
  const replica = await startReplica('gateway-leaving', { DRAIN_SECONDS: '0', CLOSE_SECONDS: '20' });
  const agent = new Agent({ keepAlive: true, maxSockets: 100 });
  const calls = Array.from({ length: 100 }, () => send(replica.publicPort, agent, 'asking'));
  const waiting = async () =>
    /^windlass_gateway_waiters 100$/m.test(await (await fetch(replica.metricsURL)).text());
  await pollUntil('all of them waiting', waiting, { timeoutMs: 10_000 });
  const stopped = replica.stop();
  await pollUntil('nobody being let in', () => send(replica.publicPort, false).then((said) => said !== 200), {
    timeoutMs: 20_000,
    everyMs: 20,
  });
  let answered = 0;
  await pollUntil('all runs being answered', async () => (answered += await answerRuns()) >= 100, {
    timeoutMs: 10_000,
    everyMs: 5,
  });
  expect(Object.keys(Object.groupBy(await Promise.all(calls), String))).toEqual(['201']);
  // It ends with the last answer, although every client would keep its connection.
  const took = stopwatch();
  expect(await stopped).toBe(0);
  expect(took()).toBeLessThan(5_000);
  agent.destroy();
});

/** Plays the runner: answers what waits for a reply, and says how many those were. */
async function answerRuns(): Promise<number> {
  const outcome = await claimRuns(harness.runs, { project: PROJECT, runner: 'test', max: 50 });
  if (outcome.outcome !== 'claimed') return 0;
  const asking = outcome.claims.filter(({ state }) => state.workflow === 'asking');
  await Promise.all(
    outcome.claims.map(({ state, token }) =>
      advance(
        harness.runs,
        { project: PROJECT, run: state.run, token },
        {
          reply: { status: 201, headers: {}, body: '{}', contentType: 'application/json' },
          end: { phase: 'Succeeded' },
        },
      ),
    ),
  );
  return asking.length;
}
