/** The last output of each node of a workflow, from its newest runs. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { RunPage, RunView } from '../../../api/runView.ts';
import { callJson } from '../../http/call.ts';
import { runPath } from './follow.ts';

export type NodeOutputs = NonNullable<RunView['nodes'][number]['output']>;

/** What earlier runs tell of a node: its last output, and why it failed when it last did. */
export type LastResult = Partial<NodeOutputs> & {
  /** Whether the record has only a part of the output. */
  truncated?: true;
  error?: { reason: string; message: string };
};

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

type Ended = Pick<RunView['nodes'][number], 'id' | 'phase' | 'output' | 'truncated' | 'reason' | 'message'>;

/** The newest output and the newest error of each node. Runs come newest first, `older` is before them. */
export function lastResults(
  runs: readonly Iterable<Ended>[],
  older: ReadonlyMap<string, LastResult> = new Map(),
): Map<string, LastResult> {
  const results = new Map(older);
  for (const nodes of runs.toReversed())
    for (const { id, phase, output, truncated, reason = '', message = '' } of nodes) {
      const { error, ...before } = results.get(id) ?? {};
      const newest = phase === 'Failed' ? { reason, message } : error;
      if (output !== undefined || newest !== undefined)
        results.set(id, {
          ...(output ? { ...output, ...(truncated && { truncated }) } : before),
          ...(newest && { error: newest }),
        });
    }
  return results;
}

/** The output alone; undefined if the node only failed. */
export function outputOf(result: LastResult | undefined): NodeOutputs | undefined {
  const { error: _error, truncated: _cut, ...output } = result ?? {};
  return Object.keys(output).length === 0 ? undefined : output;
}

/** Whether the runs tell of a node that none of them executed: an older run may have its output. */
export function lacksNode(runs: readonly Iterable<Ended>[]): boolean {
  const known = lastResults(runs);
  return runs.some((nodes) => [...nodes].some(({ id, phase }) => phase === 'Skipped' && !known.has(id)));
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
