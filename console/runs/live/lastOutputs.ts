/** What each node of a workflow produced last: of the newest runs, as many as are needed and no more than a few. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { RunPage, RunView } from '../../../api/runView.ts';
import { callJson } from '../../http/call.ts';
import { runPath } from './follow.ts';

export type NodeOutputs = NonNullable<RunView['nodes'][number]['output']>;

/** So many of the newest runs are looked at: a node that ran in none of them has no example. */
const LOOKED_AT = 6;

/** The last outputs by node. `after` is another value when there is a newer run to look at. */
export function lastOutputsQuery(namespace: string, workflow: string, after: string) {
  return queryOptions({
    queryKey: ['last-outputs', namespace, workflow, after],
    enabled: workflow !== '',
    staleTime: 60_000,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, NodeOutputs>> => {
      const views = await newestRuns(namespace, workflow, LOOKED_AT, signal);
      return outputsOf(views);
    },
  });
}

/** The first output of each node, of runs that come newest first. */
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
  // A run that is pruned meanwhile is no example.
  return views.flatMap((view) => (view.status === 'fulfilled' ? [view.value] : []));
}

/** The newest runs of a workflow, as the gateway lists them. */
async function listedRuns(
  namespace: string,
  workflow: string,
  limit: number,
  signal?: AbortSignal,
): Promise<RunPage['items']> {
  const path = `/workflows/${encodeURIComponent(`${namespace}.${workflow}`)}/runs?limit=${limit}`;
  return (await callJson<RunPage>(path, signal ? { signal } : {})).items;
}

/** What started the newest run that was no test, as far as it is still known. */
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
