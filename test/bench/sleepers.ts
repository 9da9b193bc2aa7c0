/**
 * `sleepers`: what 1,000 projects cost whose runners sleep, beside an installation without projects. Nothing
 * happens in them; the operator would wake them. With half of them it is measured, too: the model of
 * docs/scale.md predicts what twice as many take.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { deployments } from '../../kube/resource.ts';
import type { OperatorProgram } from '../support/operator/operatorProgram.ts';
import { pollUntil } from '../support/time/poll.ts';
import { POOL } from '../../operator/shared/names.ts';
import { openInstallation, type Installation } from './installationAtScale.ts';
import { memoryUse, sumOf, useOf, type Use } from './processUse.ts';
import type { Figure } from './report.ts';

/** For trying the script: 0.02 makes 20 projects. */
const SCALE = Number(process.env['BENCH_SCALE'] ?? '1');
const HALF = Math.round(500 * SCALE);
const SLEEP_AFTER = '10s';
const READY_WITHIN_MS = 300_000;
const ASLEEP_WITHIN_MS = 200_000;
/**
 * Until what starting and falling asleep left behind is done, V8 has compiled what runs often, and has
 * collected the garbage of it, which it begins some 90 s after.
 */
const SETTLE_MS = 180_000;
/** Four of the rounds in which the operator reads all sleeping projects. */
const MEASURED_SECONDS = 120;

type Measured = Use & {
  projects: number;
  pods: number;
  /** In MiB. */
  memory: number;
};

export async function sleepers(): Promise<Figure[]> {
  const installation = await openInstallation();
  try {
    const operator = await installation.startOperator({ RUNNER_SLEEP_AFTER: SLEEP_AFTER });
    const empty = await measure(installation, operator, 0);
    await addSleepers(installation);
    const half = await measure(installation, operator, HALF);
    await addSleepers(installation);
    const all = await measure(installation, operator, 2 * HALF);
    return [...[empty, half, all].flatMap(figuresOf), ...predictions(empty, half, all)];
  } finally {
    await installation.close();
  }
}

/** Adds half of the projects, and waits until no runner is left. */
async function addSleepers(installation: Installation): Promise<void> {
  const startedAt = performance.now();
  await installation.createWorkflows(await installation.createProjects(HALF), 1);
  await installation.untilReady(READY_WITHIN_MS);
  console.error(`${HALF} more projects are ready after ${seconds(startedAt)} s`);
  const isAsleep = async (): Promise<boolean> => (await replicasOf(installation)) === 0;
  await pollUntil('no runner', isAsleep, { timeoutMs: ASLEEP_WITHIN_MS, everyMs: 2_000 });
  console.error(`they sleep after ${seconds(startedAt)} s`);
}

const seconds = (since: number): string => ((performance.now() - since) / 1_000).toFixed(1);

async function measure(
  installation: Installation,
  operator: OperatorProgram,
  projects: number,
): Promise<Measured> {
  await delay(SETTLE_MS);
  const use = await useOf(installation.harness, operator, MEASURED_SECONDS);
  const { now: memory } = await memoryUse(operator.pid);
  const measured = { ...use, projects, memory, pods: await replicasOf(installation) };
  console.error(measured);
  return measured;
}

/** The replicas of all pools together. */
async function replicasOf({ harness }: Installation): Promise<number> {
  const { items } = await harness.client.listAll(deployments);
  const pools = items.filter(({ metadata }) => metadata.name === POOL);
  return pools.reduce((sum, { spec }) => sum + (spec?.replicas ?? 1), 0);
}

function figuresOf({ projects, pods, memory, ...use }: Measured): Figure[] {
  const of = projects === 0 ? 'no projects' : `${projects.toLocaleString('en-GB')} sleeping projects`;
  const most = (value: number): Pick<Figure, 'goal'> =>
    projects === 2 * HALF ? { goal: { at: 'most', value, of: 'value' } } : {};
  const both = use.operatorPercent + use.redisPercent;
  return [
    { name: `${of}: pods`, value: pods, unit: '', ...most(0) },
    { name: `${of}: processor of operator and Redis`, value: both, unit: '% of a core', ...most(1) },
    { name: `${of}: processor of the operator`, value: use.operatorPercent, unit: '% of a core' },
    { name: `${of}: processor of Redis`, value: use.redisPercent, unit: '% of a core' },
    { name: `${of}: commands of Redis`, value: use.commands, unit: '/s' },
    { name: `${of}: requests of the operator`, value: sumOf(use.requests), unit: '/s' },
    { name: `${of}: memory of the operator`, value: memory, unit: 'MiB' },
  ];
}

function predictions(empty: Measured, half: Measured, all: Measured): Figure[] {
  const parts: [name: string, unit: string, of: (measured: Measured) => number][] = [
    ['processor of the operator', '% of a core', ({ operatorPercent }) => operatorPercent],
    ['processor of Redis', '% of a core', ({ redisPercent }) => redisPercent],
    ['commands of Redis', '/s', ({ commands }) => commands],
    ['memory of the operator', 'MiB', ({ memory }) => memory],
  ];
  return parts.map(([name, unit, of]) => ({
    name: `${name}: twice as many sleeping projects`,
    value: of(all),
    unit,
    ratio: { to: 'predicted', value: of(all) / (2 * of(half) - of(empty)) },
  }));
}
