/**
 * `tokens`: how long `kubectl get` takes while one gateway process is sent as many execute calls with tokens
 * that nobody made as it can take, beside a quiet minute and beside calls of an unknown address, which ask
 * the API server nothing. The load and the gateway leave the processors to the API server, which elsewhere
 * has machines of its own.
 */
import { setPriority } from 'node:os';
import { join } from 'node:path';
import {
  NAMESPACE,
  startGatewayHarness,
  putRoute,
  type GatewayHarness,
} from '../support/gateway/gatewayHarness.ts';
import { pollUntil } from '../support/time/poll.ts';
import { runCommand } from '../support/process/command.ts';
import { median, type Figure } from './report.ts';
import { runWrk } from './wrk.ts';

const ROUNDS = 7;
const SECONDS = 5;
/** So many of the answers of each round are timed. */
const LEAST = 5;
const CONNECTIONS = 32;

/** Each request has another token, so that no memory of answers helps. */
const ANOTHER_TOKEN = `count = (count or math.random(1e9)) + 1
wrk.headers['Authorization'] = 'Bearer garbage-' .. count`;

const KINDS = ['nothing', 'unknown addresses', 'unknown tokens'] as const;
type Kind = (typeof KINDS)[number];
type Round = { kubectlMs: number; perSecond: number; reviews: number };

export async function tokens(): Promise<Figure[]> {
  const harness = await startGatewayHarness();
  const measured: Record<Kind, Round[]> = { nothing: [], 'unknown addresses': [], 'unknown tokens': [] };
  try {
    await putRoute(harness.client, 'orders');
    await pollUntil('the route', async () => (await fetch(harness.hook('orders'))).status === 405, {
      timeoutMs: 10_000,
    });
    setPriority(harness.gateway.pid, 19);
    await timeKubectl(harness);
    for (let round = 1; round <= ROUNDS; round += 1) {
      for (const kind of KINDS) measured[kind].push(await measure(harness, kind));
      const line = KINDS.map((kind) => `${kind} ${measured[kind].at(-1)?.kubectlMs.toFixed(0)} ms`);
      console.error(`round ${round} of ${ROUNDS}: ${line.join(', ')}`);
    }
  } finally {
    await harness.close();
  }
  return figures(measured);
}

async function measure(harness: GatewayHarness, kind: Kind): Promise<Round> {
  const before = await reviewsOf(harness);
  const startedAt = performance.now();
  const load = kind === 'nothing' ? undefined : runWrk(loadOf(harness, kind));
  const times: number[] = [];
  const until = startedAt + SECONDS * 1_000;
  while (performance.now() < until || times.length < LEAST) times.push(await timeKubectl(harness));
  const { perSecond = 0 } = (await load) ?? {};
  const seconds = (performance.now() - startedAt) / 1_000;
  return { kubectlMs: median(times), perSecond, reviews: ((await reviewsOf(harness)) - before) / seconds };
}

function loadOf({ gateway }: GatewayHarness, kind: Kind) {
  const path = kind === 'unknown tokens' ? `/workflows/${NAMESPACE}.orders/execute` : '/nothing';
  return {
    url: `${gateway.internalURL}${path}`,
    connections: CONNECTIONS,
    seconds: SECONDS,
    body: '{}',
    refused: true,
    yielding: true,
    before: ANOTHER_TOKEN,
  };
}

/** Milliseconds of one `kubectl get`, from start to end of the program. */
async function timeKubectl({ api }: GatewayHarness): Promise<number> {
  const startedAt = performance.now();
  await runCommand(join(api.binDir, 'kubectl'), ['get', 'webhookroutes.windlass.dev', '-n', NAMESPACE], {
    env: { ...process.env, KUBECONFIG: api.kubeconfigPath },
  });
  return performance.now() - startedAt;
}

/** How many tokens the gateway has asked the API server about so far. */
async function reviewsOf({ gateway }: GatewayHarness): Promise<number> {
  const text = await (await fetch(gateway.metricsURL)).text();
  const counts = text.matchAll(
    /^windlass_gateway_reviews_total\{kind="token",outcome="(?:no|yes|failed)"\} (\d+)$/gm,
  );
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

function figures(measured: Record<Kind, Round[]>): Figure[] {
  const quiet = measured.nothing;
  const times = KINDS.map((kind): Figure => {
    const ratio = median(
      measured[kind].map(({ kubectlMs }, at) => kubectlMs / (quiet[at]?.kubectlMs ?? Number.NaN)),
    );
    return {
      name: `kubectl get, beside ${kind}`,
      value: median(measured[kind].map(({ kubectlMs }) => kubectlMs)),
      unit: 'ms',
      ...(kind !== 'nothing' && { ratio: { to: 'nothing', value: ratio } }),
      ...(kind === 'unknown tokens' && { goal: { at: 'most', value: 2, of: 'ratio' } as const }),
    };
  });
  const flood = measured['unknown tokens'];
  return [
    ...times,
    { name: 'calls refused', value: median(flood.map(({ perSecond }) => perSecond)), unit: 'requests/s' },
    {
      name: 'tokens that the API server was asked about',
      value: median(flood.map(({ reviews }) => reviews)),
      unit: 'reviews/s',
      // 20 a second, and the 50 that have gathered while nothing was asked.
      goal: { at: 'most', value: 20 + 50 / SECONDS, of: 'value' },
    },
  ];
}
