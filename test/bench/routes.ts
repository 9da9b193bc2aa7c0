/**
 * `routes`: accepting with 10,000 routes beside accepting with one, and how soon a gateway that starts serves
 * them all.
 */
import { webhookRoutes } from '../../gateway/routing/follow.ts';
import { namespaces } from '../../kube/resource.ts';
import { NAMESPACE, putRoute } from '../support/gateway/gatewayHarness.ts';
import { startGateway, type GatewayProcess } from '../support/gateway/gatewayProcess.ts';
import { EVENT } from './accept.ts';
import { median, type Figure } from './report.ts';
import { startHarness, type Harness, WORKFLOW } from './harness.ts';
import { runWrk } from './wrk.ts';

const ROUTES = 10_000;
const STARTS = 5;
const ROUNDS = 9;
const SECONDS = 2;
const AT_ONCE = 32;

export async function routes(): Promise<Figure[]> {
  const harness = await startHarness({ reply: false });
  try {
    const few = await start(harness, 'few', { WATCH_NAMESPACES: NAMESPACE });
    await makeRoutes(harness);
    const starts: number[] = [];
    let many = await start(harness, 'many', {});
    for (let round = 0; round < STARTS; round += 1) {
      await many.gateway.stop('SIGKILL');
      many = await start(harness, 'many', {});
      starts.push(many.readyMs);
      console.error(`start ${round + 1} of ${STARTS}: ready after ${Math.round(many.readyMs)} ms`);
    }
    const ratios = await compare(harness, few.gateway, many.gateway);
    await Promise.all([few.gateway.stop('SIGKILL'), many.gateway.stop('SIGKILL')]);
    return figures(few.readyMs, starts, ratios);
  } finally {
    await harness.close();
  }
}

async function makeRoutes(harness: Harness): Promise<void> {
  const name = 'many';
  await harness.client.create(namespaces, { metadata: { name } });
  const template = await putRoute(harness.client, WORKFLOW);
  let next = 0;
  const make = async (): Promise<void> => {
    while (next < ROUTES) {
      const workflow = `workflow-${(next += 1)}`;
      const spec = {
        ...template.spec,
        workflow,
        workflowUID: `uid-of-${workflow}`,
        projectUID: 'project-many',
      };
      await harness.client.create(webhookRoutes, { metadata: { namespace: name, name: workflow }, spec });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, make));
  console.error(`${ROUTES} routes are there`);
}

async function start(
  harness: Harness,
  pod: string,
  env: Record<string, string>,
): Promise<{ gateway: GatewayProcess; readyMs: number }> {
  const before = performance.now();
  const gateway = await startGateway({
    kubeconfigPath: harness.api.kubeconfigPath,
    redisURL: harness.redis.url,
    pod: `gateway-${pod}`,
    namespace: NAMESPACE,
    env: { LIMITS: harness.limits, ...env },
  });
  return { gateway, readyMs: performance.now() - before };
}

/** Requests a second with many routes by those with few, round by round. */
async function compare(
  harness: Harness,
  few: GatewayProcess,
  many: GatewayProcess,
): Promise<{ few: number; many: number }[]> {
  const run = async ({ publicURL }: GatewayProcess, seconds: number): Promise<number> => {
    const url = `${publicURL}/webhook/${NAMESPACE}.${WORKFLOW}/new`;
    return (await runWrk({ url, connections: 32, body: EVENT, seconds })).perSecond;
  };
  const rounds: { few: number; many: number }[] = [];
  await run(few, 3);
  await run(many, 3);
  for (let round = 1; round <= ROUNDS; round += 1) {
    await harness.emptyStore();
    rounds.push({ few: await run(few, SECONDS), many: await run(many, SECONDS) });
    const { few: one, many: all } = rounds.at(-1) ?? { few: 0, many: 0 };
    console.error(
      `round ${round} of ${ROUNDS}: 1 route ${Math.round(one)}/s, ${ROUTES} routes ${Math.round(all)}/s`,
    );
  }
  return rounds;
}

function figures(oneMs: number, starts: number[], rounds: { few: number; many: number }[]): Figure[] {
  return [
    { name: 'accept, 1 route', value: median(rounds.map(({ few }) => few)), unit: 'requests/s' },
    {
      name: 'accept, 10,000 routes',
      value: median(rounds.map(({ many }) => many)),
      unit: 'requests/s',
      ratio: { to: 'accept, 1 route', value: median(rounds.map(({ few, many }) => many / few)) },
      goal: { at: 'least', value: 0.95, of: 'ratio' },
    },
    { name: 'ready after the start, 1 route', value: oneMs / 1_000, unit: 's' },
    {
      name: 'ready after the start, 10,000 routes',
      value: median(starts) / 1_000,
      unit: 's',
      goal: { at: 'most', value: 5, of: 'value' },
    },
  ];
}
