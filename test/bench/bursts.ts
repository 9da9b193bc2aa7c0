/**
 * `bursts`: how soon workflows that are applied together are ready: 1,000 in one project, and 10,000 in 100
 * projects, by one `kubectl apply` each, and by a client that creates 32 at a time. The projects are there
 * before, as are two gateways, which prove each route.
 */
import { openInstallation, type Installation } from './installationAtScale.ts';
import { memoryUse } from './processUse.ts';
import type { Figure } from './report.ts';

/** For trying the script: 0.02 makes 20 workflows, and 200 in 2 projects. */
const SCALE = Number(process.env['BENCH_SCALE'] ?? '1');
const ONE_PROJECT = Math.round(1_000 * SCALE);
const PROJECTS = Math.round(100 * SCALE);
const EACH = 100;
const READY_WITHIN_MS = 600_000;

type Burst = { appliedSeconds: number; readySeconds: number };

export async function bursts(): Promise<Figure[]> {
  const installation = await openInstallation();
  try {
    const operator = await installation.startOperator();
    const figures: Figure[] = [];
    for (const how of ['applyWorkflows', 'createWorkflows'] as const) {
      const by = how === 'applyWorkflows' ? 'kubectl apply' : '32 at a time';
      const one = await burst(installation, how, { projects: 1, each: ONE_PROJECT });
      const many = await burst(installation, how, { projects: PROJECTS, each: EACH });
      figures.push(
        ...figuresOf(`${ONE_PROJECT.toLocaleString('en-GB')} workflows in one project, ${by}`, one, 5),
        ...figuresOf(`${(PROJECTS * EACH).toLocaleString('en-GB')} in ${PROJECTS} projects, ${by}`, many, 60),
      );
    }
    const { most } = await memoryUse(operator.pid);
    return [...figures, { name: 'operator, most memory', value: most, unit: 'MiB' }];
  } finally {
    await installation.close();
  }
}

async function burst(
  installation: Installation,
  how: 'applyWorkflows' | 'createWorkflows',
  { projects, each }: { projects: number; each: number },
): Promise<Burst> {
  const namespaces = await installation.createProjects(projects);
  const startedAt = performance.now();
  await installation[how](namespaces, each);
  const appliedAt = performance.now();
  await installation.untilReady(READY_WITHIN_MS);
  const seconds = (from: number, to: number): number => (to - from) / 1_000;
  const measured = {
    appliedSeconds: seconds(startedAt, appliedAt),
    readySeconds: seconds(appliedAt, performance.now()),
  };
  console.error(`${how}, ${projects} projects, ${each} workflows each:`, measured);
  return measured;
}

function figuresOf(name: string, { appliedSeconds, readySeconds }: Burst, most: number): Figure[] {
  return [
    { name: `${name}: until the last is applied`, value: appliedSeconds, unit: 's' },
    {
      name: `${name}: until all are ready after that`,
      value: readySeconds,
      unit: 's',
      goal: { at: 'most', value: most, of: 'value' },
    },
  ];
}
