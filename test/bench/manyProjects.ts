/** Measures one operator with many projects: until all workflows are ready, and at rest. */
import { setTimeout as delay } from 'node:timers/promises';
import { openInstallation, type Installation } from './installationAtScale.ts';
import { memoryUse, sumOf, useOf, type Use } from './processUse.ts';
import { processorTicks } from './singles.ts';
import type { Figure } from './report.ts';

const WORKFLOWS_EACH = 10;
const READY_WITHIN_MS = 540_000;
/** Until what starting left behind is done. */
const SETTLE_MS = 20_000;
const MEASURED_SECONDS = 60;
const TICKS_PER_SECOND = 100;

export type Measured = {
  projects: number;
  readySeconds: number;
  /** Seconds of a processor until all are ready. */
  processor: { operator: number; server: number };
  /** In MiB. */
  memory: { now: number; most: number };
  rest: Use;
};

/** Measures so many projects, then calls `further` with the installation. */
export async function measureProjects(
  projects: number,
  further: (installation: Installation) => Promise<void> = () => Promise.resolve(),
): Promise<Measured> {
  const installation = await openInstallation();
  const { harness } = installation;
  try {
    const createdAt = performance.now();
    await installation.createWorkflows(await installation.createProjects(projects), WORKFLOWS_EACH);
    console.error(`${projects} projects created in ${secondsSince(createdAt).toFixed(1)} s`);
    const serverTicks = (): Promise<number> => serverTicksOf(installation);
    const before = await serverTicks();
    const startedAt = performance.now();
    const operator = await installation.startOperator();
    await installation.untilReady(READY_WITHIN_MS);
    const readySeconds = secondsSince(startedAt);
    const processor = {
      operator: (await processorTicks(operator.pid)) / TICKS_PER_SECOND,
      server: ((await serverTicks()) - before) / TICKS_PER_SECOND,
    };
    console.error(`${projects} projects: all ready after ${readySeconds.toFixed(1)} s`, processor);
    await delay(SETTLE_MS);
    const rest = await useOf(harness, operator, MEASURED_SECONDS);
    const memory = await memoryUse(operator.pid);
    console.error({ ...rest, ...memory });
    await further(installation);
    return { projects, readySeconds, processor, memory, rest };
  } finally {
    await installation.close();
  }
}

/** API server and etcd. */
async function serverTicksOf({ harness: { server } }: Installation): Promise<number> {
  const ticks = await Promise.all(Object.values(server.parts).map((part) => processorTicks(part.pid())));
  return ticks.reduce((sum, each) => sum + each, 0);
}

const secondsSince = (at: number): number => (performance.now() - at) / 1_000;

/** The figures of one measurement; with `goals` those of 1,000 projects. */
export function figuresOf(
  { projects, readySeconds, processor, memory, rest }: Measured,
  { goals }: { goals: boolean },
): Figure[] {
  const of = `${projects.toLocaleString('en-GB')} projects`;
  const most = (value: number): Pick<Figure, 'goal'> =>
    goals ? { goal: { at: 'most', value, of: 'value' } } : {};
  return [
    { name: `${of}: start until all are ready`, value: readySeconds, unit: 's', ...most(300) },
    { name: `${of}: processor of the operator until then`, value: processor.operator, unit: 's' },
    { name: `${of}: processor of API server and etcd until then`, value: processor.server, unit: 's' },
    { name: `${of}: operator, most memory`, value: memory.most, unit: 'MiB', ...most(1_024) },
    { name: `${of}: operator, memory at rest`, value: memory.now, unit: 'MiB' },
    { name: `${of}: requests of the operator at rest`, value: sumOf(rest.requests), unit: '/s', ...most(5) },
    { name: `${of}: requests of all programs at rest`, value: rest.allRequests, unit: '/s' },
    { name: `${of}: commands of Redis at rest`, value: rest.commands, unit: '/s' },
    { name: `${of}: processor of the operator at rest`, value: rest.operatorPercent, unit: '% of a core' },
    { name: `${of}: processor of Redis at rest`, value: rest.redisPercent, unit: '% of a core' },
  ];
}
