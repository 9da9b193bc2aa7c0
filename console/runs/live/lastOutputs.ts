/** The last output of each node of a workflow, from its newest runs. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { RunPage, RunView } from '../../../api/runView.ts';
import { callJson } from '../../http/call.ts';
import { runPath } from './follow.ts';

export type NodeOutputs = NonNullable<RunView['nodes'][number]['output']>;

/** The number of runs to read. Nodes that ran in none of them have no output. */
const MOST_RUNS = 6;

/** The last outputs by node. `after` changes when a newer run has ended. */
export function lastOutputsQuery(namespace: string, workflow: string, after: string) {
  return queryOptions({
    queryKey: ['last-outputs', namespace, workflow, after],
    enabled: workflow !== '',
    staleTime: 60_000,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, NodeOutputs>> => {
      const views = await newestRuns(namespace, workflow, MOST_RUNS, signal);
      return outputsOf(views);
    },
  });
}

/** The first output of each node. Runs come newest first. */
function outputsOf(views: readonly RunView[]): Map<string, NodeOutputs> {
  const outputs = new Map<string, NodeOutputs>();
  for (const { nodes } of views)
    for (const { id, output } of nodes) if (output !== undefined && !outputs.has(id)) outputs.set(id, output);
  return outputs;
}

async function newestRuns(
  namespace: string,
  workflow: string,
  most: number,
  signal: AbortSignal,
): Promise<RunView[]> {
  const items = await listedRuns(namespace, workflow, 30, signal);
  const whole = items.filter(({ summary }) => summary !== true).slice(0, most);
  const views = await Promise.allSettled(
    whole.map(({ run }) => callJson<RunView>(runPath({ namespace, workflow, run }), { signal })),
  );
  // Runs that were pruned meanwhile are skipped.
  return views.flatMap((view) => (view.status === 'fulfilled' ? [view.value] : []));
}

async function listedRuns(
  namespace: string,
  workflow: string,
  limit: number,
  signal?: AbortSignal,
): Promise<RunPage['items']> {
  const path = `/workflows/${encodeURIComponent(`${namespace}.${workflow}`)}/runs?limit=${limit}`;
  return (await callJson<RunPage>(path, signal ? { signal } : {})).items;
}

/** The input of the newest run that is not a test run, if it is still known. */
export async function lastRealEvent(
  namespace: string,
  workflow: string,
  trigger: string,
): Promise<{ run: string; output: NodeOutputs; truncated: boolean } | undefined> {
  const items = await listedRuns(namespace, workflow, 50);
  const real = items.filter(({ test, summary }) => test !== true && summary !== true).slice(0, 5);
  for (const { run } of real) {
    const { test, nodes } = await callJson<RunView>(runPath({ namespace, workflow, run }));
    const started = nodes.find(({ id }) => id === trigger);
    if (!test && started?.output !== undefined)
      return { run, output: started.output, truncated: started.truncated === true };
  }
  return undefined;
}
