/** Retries of several failed runs of one workflow: which of them are retried, and each of the retries. */
import { ApiFailure } from '../http/failure.ts';
import { getObject, listTable } from '../kube/objects.ts';
import { RUNS, type RunObject } from '../kube/resources.ts';
import type { RunPhase } from '../../api/phase.ts';
import type { RunAt } from './live/runAt.ts';
import { runOfRow, type ListedRun } from './filters.ts';
import { resumeRun } from './resume.ts';
import { retryProblem, retryRun } from './retry.ts';
import type { StartRequest } from './startRequests.ts';

/** Where the new runs begin. */
export type RetryFrom = 'failed node' | 'start';

/** A failed run. `endedAt`: in milliseconds since 1970. */
type FailedRun = { run: string; endedAt: number };

export type RetryPlan = {
  /** Oldest first, each with the number of its retries that were cancelled. */
  chosen: (FailedRun & { cancelled: number })[];
  /** How many have a retry that is in progress, succeeded, or failed and is itself retried. */
  retried: number;
  /** How many are left for the next time. */
  left: number;
};

/** How many runs are retried together at most. */
export const MAX_RETRIES = 200;

/** Chooses the runs to retry: those without a retry, except for cancelled ones. */
export function planRetries(
  failed: readonly FailedRun[],
  retries: readonly { retryOf?: string | undefined; phase: RunPhase }[],
): RetryPlan {
  const known = Map.groupBy(retries, ({ retryOf = '' }) => retryOf);
  const retriesOf = ({ run }: FailedRun) => known.get(run) ?? [];
  const isFree = (each: FailedRun) => retriesOf(each).every(({ phase }) => phase === 'Cancelled');
  const free = failed.filter(isFree).toSorted((one, other) => one.endedAt - other.endedAt);
  const chosen = free.slice(0, MAX_RETRIES);
  return {
    chosen: chosen.map((each) => ({ ...each, cancelled: retriesOf(each).length })),
    retried: failed.length - free.length,
    left: free.length - chosen.length,
  };
}

/**
 * The request of a retry. It follows from the run, so that two people who retry the same runs at the same
 * time start one retry of each.
 */
export function requestOf({ run, endedAt, cancelled }: RetryPlan['chosen'][number]): StartRequest {
  return { id: `${hashOf(`${run} ${cancelled}`)}-all-${cancelled}`, at: endedAt };
}

/** FNV-1a, as eight hexadecimal digits. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, '0');
}

const PAGE = 500;

/** The records of a workflow that are retries of other runs. */
export async function readRetries(
  namespace: string,
  workflow: string,
  signal: AbortSignal,
): Promise<ListedRun[]> {
  const retries: ListedRun[] = [];
  let token: string | undefined;
  do {
    const page = await listTable(RUNS, namespace, {
      fieldSelector: `spec.workflow=${workflow}`,
      limit: PAGE,
      signal,
      ...(token !== undefined && { continue: token }),
    });
    retries.push(...page.rows.map(runOfRow).filter(({ retryOf }) => retryOf !== undefined));
    token = page.continue;
  } while (token !== undefined);
  return retries;
}

type Retry = { from: RetryFrom; sent: StartRequest; requestedBy: string | undefined };

/** Retries one run and returns the name of the new one. Throws an ApiFailure that says what to do. */
export function retryOne(at: RunAt, { from, sent, requestedBy }: Retry): Promise<string> {
  const { namespace, workflow, run: retryOf } = at;
  const asked = { namespace, workflow, retryOf, test: false, requestedBy };
  if (from === 'start')
    return readRecord(at).then((record) => {
      const problem = retryProblem(record);
      if (problem !== undefined) throw refusalOf(`Cannot retry: ${problem}`);
      return retryRun(asked, sent);
    });
  return resumeRun(at, { decisions: [], key: sent.id }, async () => {
    const { status } = await readRecord(at);
    if (status?.nodes?.some(({ phase }) => phase === 'Unknown') === true)
      throw refusalOf('The effect of a node may have happened. Open the run and retry it there.');
    return retryRun({ ...asked, decisions: [] }, sent);
  });
}

async function readRecord({ namespace, run }: RunAt): Promise<RunObject> {
  try {
    return await getObject(RUNS, namespace, run);
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 404)
      throw refusalOf('The run has no record, and the run store no longer has it: send the event again.');
    throw error;
  }
}

function refusalOf(detail: string): ApiFailure {
  return new ApiFailure({ status: 409, title: 'Not retried', detail, reason: 'not-retried' });
}
