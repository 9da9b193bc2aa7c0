/**
 * The unfinished runs of a workflow as the run store has them. The counts in the status of the workflow are
 * up to a minute old.
 */
import { queryOptions, useQuery } from '@tanstack/react-query';
import { workflowId } from '../../api/group.ts';
import type { RunItem, RunPage } from '../../api/runView.ts';
import { callJson } from '../http/call.ts';

export type WorkflowAt = { namespace: string; workflow: string };

const PAGE = 500;
/** The page limit per phase. Pages may have few runs, because the gateway scans a limited number per page. */
const MAX_PAGES = 6;
const RETRY_MS = 10_000;

/** `isAll`: whether there are no others. */
export type UnfinishedRuns = { items: RunItem[]; isAll: boolean };

/** The waiting runs, newest first. */
export function waitingQuery(at: WorkflowAt) {
  return queryOptions({
    queryKey: ['waiting-runs', at.namespace, at.workflow],
    refetchInterval: RETRY_MS,
    queryFn: ({ signal }) => readWaiting(at, signal),
  });
}

async function readWaiting(at: WorkflowAt, signal: AbortSignal): Promise<UnfinishedRuns> {
  // Sequential: a run that becomes due moves from the second phase to the first.
  const waiting = await listPhase(at, 'Waiting', signal);
  const pending = await listPhase(at, 'Pending', signal);
  const byName = new Map([...pending.items, ...waiting.items].map((item) => [item.run, item]));
  return { items: [...byName.values()], isAll: waiting.isAll && pending.isAll };
}

type UnfinishedCounts = { running: number; waiting: number };

/** The item with the counts of now, as soon as they are read. */
export function useFreshCounts<T extends UnfinishedCounts & { name: string }>(namespace: string, item: T): T {
  const at = { namespace, workflow: item.name };
  const { data } = useQuery({
    queryKey: ['open-runs', namespace, item.name],
    // Read again whenever a dialog opens.
    gcTime: 0,
    queryFn: async ({ signal }) => ({
      running: await listPhase(at, 'Running', signal),
      waiting: await readWaiting(at, signal),
    }),
  });
  return data === undefined ? item : { ...item, ...freshCounts(data, item) };
}

/** The counts of the lists; of an incomplete one at least those of the status. */
export function freshCounts(
  { running, waiting }: { running: UnfinishedRuns; waiting: UnfinishedRuns },
  known: UnfinishedCounts,
): UnfinishedCounts {
  const started = new Set(running.items.map(({ run }) => run));
  // A run that started between both lists is in both.
  const still = waiting.items.filter(({ run }) => !started.has(run)).length;
  return {
    running: running.isAll ? running.items.length : Math.max(running.items.length, known.running),
    waiting: waiting.isAll ? still : Math.max(still, known.waiting),
  };
}

async function listPhase(
  at: WorkflowAt,
  phase: 'Pending' | 'Waiting' | 'Running',
  signal: AbortSignal,
): Promise<UnfinishedRuns> {
  const items: RunItem[] = [];
  let token: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const from = token === undefined ? '' : `&continue=${encodeURIComponent(token)}`;
    const path = `${runsPath(at)}?limit=${PAGE}&phase=${phase}${from}`;
    const read = await callJson<RunPage>(path, { signal });
    items.push(...read.items);
    token = read.continue;
    if (token === undefined) return { items, isAll: true };
  }
  return { items, isAll: false };
}

export function runsPath({ namespace, workflow }: WorkflowAt): string {
  return `/workflows/${encodeURIComponent(workflowId(namespace, workflow))}/runs`;
}
