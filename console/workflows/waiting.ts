/** The runs of a workflow that wait: how many, which, and how they are cancelled. */
import { queryOptions } from '@tanstack/react-query';
import { workflowId } from '../../api/group.ts';
import type { RunItem, RunPage } from '../../api/runView.ts';
import { call, callJson } from '../http/call.ts';
import { ApiFailure } from '../http/failure.ts';

const PAGE = 500;
/** Pages that are read of each phase. Pages may have few runs: the gateway looks at so many runs for one. */
const MAX_PAGES = 6;
const AGAIN_MS = 10_000;

export type WaitingRuns = { items: RunItem[]; isAll: boolean };

type At = { namespace: string; workflow: string };

/** The runs that wait, newest first, as the run store knows them at this moment. */
export function waitingQuery(at: At) {
  return queryOptions({
    queryKey: ['waiting-runs', at.namespace, at.workflow],
    refetchInterval: AGAIN_MS,
    queryFn: async ({ signal }): Promise<WaitingRuns> => {
      // One after the other: a run that comes due in between goes from the second phase to the first.
      const waiting = await listPhase(at, 'Waiting', signal);
      const pending = await listPhase(at, 'Pending', signal);
      const byName = new Map([...pending.items, ...waiting.items].map((item) => [item.run, item]));
      return { items: [...byName.values()], isAll: waiting.isAll && pending.isAll };
    },
  });
}

async function listPhase(at: At, phase: 'Pending' | 'Waiting', signal: AbortSignal): Promise<WaitingRuns> {
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

function runsPath({ namespace, workflow }: At): string {
  return `/workflows/${encodeURIComponent(workflowId(namespace, workflow))}/runs`;
}

/** Cancels these runs, as fast as the gateway lets one caller; a run that has ended meanwhile is left alone. */
export async function cancelRuns(at: At, runs: readonly string[]): Promise<void> {
  for (const run of runs) await cancelWithPatience(`${runsPath(at)}/${encodeURIComponent(run)}`);
}

const ATTEMPTS = 10;
const PAUSE_MS = 1_000;

async function cancelWithPatience(path: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await call(path, { method: 'DELETE' });
      return;
    } catch (error) {
      const status = error instanceof ApiFailure ? error.status : 0;
      if (status === 404 || status === 409) return;
      if (status !== 429 || attempt === ATTEMPTS) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}
