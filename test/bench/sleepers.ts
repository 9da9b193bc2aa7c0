/**
 * `sleepers`: what 1,000 projects cost whose runners sleep, beside an installation without projects. Nothing
 * happens in them; the operator would wake them.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { deployments } from '../../kube/resource.ts';
import { pollUntil } from '../support/time/poll.ts';
import { openInstallation, type Installation } from './installationAtScale.ts';
import { memoryUse, sumOf, useOf, type Use } from './processUse.ts';
import type { Figure } from './report.ts';

/** For trying the script: 0.02 makes 20 projects. */
const SCALE = Number(process.env['BENCH_SCALE'] ?? '1');
const PROJECTS = Math.round(1_000 * SCALE);
const SLEEP_AFTER = '10s';
const READY_WITHIN_MS = 480_000;
const ASLEEP_WITHIN_MS = 240_000;
/** Until what starting and falling asleep left behind is done. */
const SETTLE_MS = 30_000;
const MEASURED_SECONDS = 60;

export async function sleepers(): Promise<Figure[]> {
  const installation = await openInstallation();
  const { harness } = installation;
  try {
    const operator = await installation.startOperator({ RUNNER_SLEEP_AFTER: SLEEP_AFTER });
    await delay(SETTLE_MS);
    const empty = await useOf(harness, operator, MEASURED_SECONDS);
    await installation.createProjects(PROJECTS, 1);
    await installation.untilReady(READY_WITHIN_MS);
    await untilAsleep(installation);
    await delay(SETTLE_MS);
    const asleep = await useOf(harness, operator, MEASURED_SECONDS);
    const { now } = await memoryUse(operator.pid);
    console.error({ empty, asleep, now });
    return figuresOf(empty, asleep, { pods: await replicasOf(installation), memory: now });
  } finally {
    await installation.close();
  }
}

async function untilAsleep(installation: Installation): Promise<void> {
  const isAsleep = async (): Promise<boolean> => (await replicasOf(installation)) === 0;
  await pollUntil('no runner', isAsleep, { timeoutMs: ASLEEP_WITHIN_MS, everyMs: 2_000 });
}

/** The replicas of all pools together. */
async function replicasOf({ harness }: Installation): Promise<number> {
  const { items } = await harness.client.listAll(deployments);
  return items.reduce((sum, { spec }) => sum + (spec?.replicas ?? 1), 0);
}

function figuresOf(empty: Use, asleep: Use, { pods, memory }: { pods: number; memory: number }): Figure[] {
  const of = `${PROJECTS.toLocaleString('en-GB')} sleeping projects`;
  const both = ({ operatorPercent, redisPercent }: Use): number => operatorPercent + redisPercent;
  return [
    { name: `${of}: pods`, value: pods, unit: '', goal: { at: 'most', value: 0, of: 'value' } },
    { name: 'no projects: processor of operator and Redis', value: both(empty), unit: '% of a core' },
    {
      name: `${of}: processor of operator and Redis`,
      value: both(asleep),
      unit: '% of a core',
      goal: { at: 'most', value: 1, of: 'value' },
    },
    { name: `${of}: processor of the operator`, value: asleep.operatorPercent, unit: '% of a core' },
    { name: `${of}: processor of Redis`, value: asleep.redisPercent, unit: '% of a core' },
    { name: 'no projects: commands of Redis', value: empty.commands, unit: '/s' },
    { name: `${of}: commands of Redis`, value: asleep.commands, unit: '/s' },
    { name: `${of}: requests of the operator`, value: sumOf(asleep.requests), unit: '/s' },
    { name: `${of}: memory of the operator`, value: memory, unit: 'MiB' },
  ];
}
