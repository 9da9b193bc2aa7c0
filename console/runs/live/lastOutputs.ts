/** The last output of each node of a workflow, from its newest runs. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { RunPage, RunView } from '../../../api/runView.ts';
import { callJson } from '../../http/call.ts';
import { lacksNode, lastResults, type LastResult, type NodeOutputs } from './lastResults.ts';
import { runPath } from './runAt.ts';

/** So many runs are read at once, and as many again while a node was executed in none of them. */
const RUNS_AT_ONCE = 6;
const MOST_RUNS = 18;

type LastOutputsOf = {
  namespace: string;
  workflow: string;
  /** The revision of the workflow. Without one it has never run. */
  revision: string | undefined;
};

/** The last outputs by node. `after` changes when a newer run has ended. */
export function lastOutputsQuery({ namespace, workflow, revision }: LastOutputsOf, after: string) {
  return queryOptions({
    queryKey: ['last-outputs', namespace, workflow, after],
    enabled: workflow !== '' && revision !== undefined,
    staleTime: 60_000,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, LastResult>> => {
      const views = await newestRuns(namespace, workflow, signal);
      return lastResults(views.map(({ nodes }) => nodes));
    },
  });
}

async function newestRuns(namespace: string, workflow: string, signal: AbortSignal): Promise<RunView[]> {
  const items = await listedRuns(namespace, workflow, 30, signal);
  // Runs that never started, such as those of an invalid draft, say nothing of nodes.
  const whole = items.filter(({ summary, startTime }) => summary !== true && startTime !== undefined);
  const views: RunView[] = [];
  for (let at = 0; at < Math.min(MOST_RUNS, whole.length); at += RUNS_AT_ONCE) {
    const read = await Promise.allSettled(
      whole
        .slice(at, at + RUNS_AT_ONCE)
        .map(({ run }) => callJson<RunView>(runPath({ namespace, workflow, run }), { signal })),
    );
    // Runs that were pruned meanwhile are skipped.
    views.push(...read.flatMap((view) => (view.status === 'fulfilled' ? [view.value] : [])));
    if (!lacksNode(views.map(({ nodes }) => nodes))) break;
  }
  return views;
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
