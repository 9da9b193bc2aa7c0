/**
 * `projects`: one operator with 1,000 projects of 10 workflows: how long until all are ready, what it takes
 * at rest, and how soon both gateways serve an edit.
 */
import type { Workflow } from '../../api/kinds.ts';
import { workflows } from '../../operator/shared/resources.ts';
import type { GatewayProcess } from '../support/gateway/gatewayProcess.ts';
import { pollUntil } from '../support/time/poll.ts';
import { SPEC, type Installation } from './installationAtScale.ts';
import { figuresOf, measureProjects } from './manyProjects.ts';
import type { Figure } from './report.ts';

/** For trying the script: 0.02 makes 20 projects. */
const PROJECTS = Math.round(1_000 * Number(process.env['BENCH_SCALE'] ?? '1'));
const EDITS = 100;

export async function projects(): Promise<Figure[]> {
  let editsMs: number[] = [];
  const measured = await measureProjects(PROJECTS, async (installation) => {
    editsMs = await editAll(installation, EDITS);
  });
  return [...figuresOf(measured, { goals: true }), ...editFigures(editsMs)];
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

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;

function editFigures(editsMs: readonly number[]): Figure[] {
  const goal = { at: 'most', value: 1_000, of: 'value' } as const;
  return [
    { name: 'an edit served by both gateways, p50', value: quantile(editsMs, 0.5), unit: 'ms' },
    { name: 'an edit served by both gateways, p99', value: quantile(editsMs, 0.99), unit: 'ms', goal },
  ];
}
