/**
 * `scale`: one operator with 1,000 projects of 10 workflows: how long until all are ready, what it takes at
 * rest, and how soon both gateways serve an edit. The same with half of the projects, from which the costs
 * of a project are computed that docs/scale.md uses.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Workflow } from '../../api/kinds.ts';
import { workflows } from '../../operator/shared/resources.ts';
import type { GatewayProcess } from '../support/gateway/gatewayProcess.ts';
import { pollUntil } from '../support/time/poll.ts';
import { openInstallation, SPEC, type Installation } from './installationAtScale.ts';
import { memoryUse, sumOf, useOf, type Use } from './processUse.ts';
import type { Figure } from './report.ts';

/** For trying the script: 0.02 makes 20 projects. */
const SCALE = Number(process.env['BENCH_SCALE'] ?? '1');
const PROJECTS = Math.round(1_000 * SCALE);
const WORKFLOWS_EACH = 10;
const EDITS = 100;
const READY_WITHIN_MS = 480_000;
/** Until what starting left behind is done. */
const SETTLE_MS = 20_000;
const MEASURED_SECONDS = 60;

type Measured = {
  projects: number;
  readySeconds: number;
  memory: { now: number; most: number };
  rest: Use;
  editsMs: number[];
};

export async function scale(): Promise<Figure[]> {
  const half = await measure(PROJECTS / 2, 0);
  const whole = await measure(PROJECTS, EDITS);
  return [...figuresOf(half), ...figuresOf(whole), ...editFigures(whole), ...predictions(half, whole)];
}

async function measure(projects: number, edits: number): Promise<Measured> {
  const installation = await openInstallation();
  const { harness } = installation;
  try {
    await timed(`${projects} projects created`, () => installation.createProjects(projects, WORKFLOWS_EACH));
    const startedAt = performance.now();
    const operator = await installation.startOperator();
    await installation.untilReady(READY_WITHIN_MS);
    const readySeconds = (performance.now() - startedAt) / 1_000;
    console.error(`${projects} projects: all ready after ${readySeconds.toFixed(1)} s`);
    await delay(SETTLE_MS);
    const rest = await useOf(harness, operator, MEASURED_SECONDS);
    const memory = await memoryUse(operator.pid);
    print(rest, memory);
    const editsMs = await editAll(installation, edits);
    return { projects, readySeconds, memory, rest, editsMs };
  } finally {
    await installation.close();
  }
}

async function timed(what: string, work: () => Promise<unknown>): Promise<void> {
  const begin = performance.now();
  await work();
  console.error(`${what} in ${((performance.now() - begin) / 1_000).toFixed(1)} s`);
}

function print(
  { requests, allRequests, commands, operatorPercent, redisPercent }: Use,
  memory: object,
): void {
  console.table(
    Object.fromEntries([...requests].slice(0, 12).map(([key, value]) => [key, value.toFixed(2)])),
  );
  console.error({ all: sumOf(requests), allRequests, commands, operatorPercent, redisPercent, ...memory });
}

/** From the answer to the edit until every gateway serves the new path. */
async function editAll(
  { harness, gateways, workflows: found }: Installation,
  edits: number,
): Promise<number[]> {
  const all = found.list();
  const times: number[] = [];
  for (let index = 0; index < edits; index += 1) {
    const workflow = all[Math.floor((index * all.length) / edits)];
    if (workflow) times.push(await edit(harness.client, gateways, workflow, `edited-${index}`));
  }
  return times.toSorted((a, b) => a - b);
}

async function edit(
  client: Installation['harness']['client'],
  gateways: readonly GatewayProcess[],
  { metadata: { namespace = '', name } }: Workflow,
  path: string,
): Promise<number> {
  const nodes = SPEC.nodes.map((node) => (node.webhook ? { ...node, webhook: { path } } : node));
  await client.patch(workflows, { namespace, name }, { spec: { nodes } }, { type: 'merge' });
  const begin = performance.now();
  await Promise.all(
    gateways.map((gateway) => {
      const url = `${gateway.publicURL}/webhook/${namespace}.${name}/${path}`;
      const isServed = async (): Promise<boolean> => (await fetch(url, { method: 'HEAD' })).status !== 404;
      return pollUntil('the edit being served', isServed, { timeoutMs: 30_000, everyMs: 5 });
    }),
  );
  return performance.now() - begin;
}

const told = (value: number): string => value.toLocaleString('en-GB');
const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;

function figuresOf({ projects, readySeconds, memory, rest }: Measured): Figure[] {
  const of = `${told(projects)} projects`;
  const isWhole = projects === PROJECTS;
  const most = (value: number): Pick<Figure, 'goal'> =>
    isWhole ? { goal: { at: 'most', value, of: 'value' } } : {};
  return [
    { name: `${of}: start until all are ready`, value: readySeconds, unit: 's', ...most(300) },
    { name: `${of}: operator, most memory`, value: memory.most, unit: 'MiB', ...most(1_024) },
    { name: `${of}: operator, memory at rest`, value: memory.now, unit: 'MiB' },
    { name: `${of}: requests of the operator at rest`, value: sumOf(rest.requests), unit: '/s', ...most(5) },
    { name: `${of}: requests of all programs at rest`, value: rest.allRequests, unit: '/s' },
    { name: `${of}: commands of Redis at rest`, value: rest.commands, unit: '/s' },
    { name: `${of}: processor of the operator at rest`, value: rest.operatorPercent, unit: '% of a core' },
    { name: `${of}: processor of Redis at rest`, value: rest.redisPercent, unit: '% of a core' },
  ];
}

function editFigures({ editsMs }: Measured): Figure[] {
  const goal = { at: 'most', value: 1_000, of: 'value' } as const;
  return [
    { name: 'an edit served by both gateways, p50', value: quantile(editsMs, 0.5), unit: 'ms' },
    { name: 'an edit served by both gateways, p99', value: quantile(editsMs, 0.99), unit: 'ms', goal },
  ];
}

/** What twice the half costs, by the model of docs/scale.md, and what was measured. */
function predictions(half: Measured, whole: Measured): Figure[] {
  const pairs: [name: string, of: (measured: Measured) => number][] = [
    ['start until all are ready', ({ readySeconds }) => readySeconds],
    ['commands of Redis at rest', ({ rest }) => rest.commands],
    ['processor of operator and Redis at rest', ({ rest }) => rest.operatorPercent + rest.redisPercent],
  ];
  return pairs.map(([name, of]) => ({
    name: `${name}: measured beside twice the half`,
    value: of(whole),
    unit: name.startsWith('start') ? 's' : name.startsWith('commands') ? '/s' : '% of a core',
    ratio: { to: 'predicted', value: of(whole) / (2 * of(half)) },
  }));
}
