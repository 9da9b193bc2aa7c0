/**
 * Reads the data of the overview: the runs of each workflow in the period, newest first and including
 * summaries, and model usage from records. Both are limited and report how much they counted.
 */
import type { RunItem, RunPage } from '../../api/runView.ts';
import { workflowId } from '../../api/group.ts';
import type { ProjectUsage, ShownUsage } from '../../api/usage.ts';
import { callJson } from '../http/call.ts';
import { eachAtOnce } from '../http/eachAtOnce.ts';
import { listObjects } from '../kube/objects.ts';
import { RUNS, type RunObject } from '../kube/resources.ts';
import { isKept } from '../runs/keptNodes.ts';
import type { CountedRun, Usage } from './statistics.ts';

const PAGE = 500;
const MAX_PAGES = 4;
/** The limit of workflows to read, most recently run first. */
export const MAX_WORKFLOWS = 40;
const AT_ONCE = 4;

export type ReadRuns = { runs: CountedRun[]; isAll: boolean };

/** The runs of these workflows that were accepted since then. */
export async function readRuns(
  namespace: string,
  workflows: string[],
  { since, signal }: { since: number; signal: AbortSignal },
): Promise<ReadRuns> {
  const read: ReadRuns[] = [];
  await eachAtOnce(workflows, { atOnce: AT_ONCE, signal }, async (workflow) => {
    read.push(await readWorkflow(namespace, workflow, { since, signal }));
  });
  return { runs: read.flatMap(({ runs }) => runs), isAll: read.every(({ isAll }) => isAll) };
}

async function readWorkflow(
  namespace: string,
  workflow: string,
  { since, signal }: { since: number; signal: AbortSignal },
): Promise<ReadRuns> {
  const path = `/workflows/${encodeURIComponent(workflowId(namespace, workflow))}/runs?limit=${PAGE}`;
  const runs: CountedRun[] = [];
  let token: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const from = token === undefined ? '' : `&continue=${encodeURIComponent(token)}`;
    const { items, continue: next } = await callJson<RunPage>(`${path}${from}`, { signal });
    const read = items.filter(({ test }) => test !== true).flatMap((item) => countedOf(item, workflow));
    runs.push(...read.filter(({ acceptedAt }) => acceptedAt >= since));
    const isPast = read.some(({ acceptedAt }) => acceptedAt < since);
    if (next === undefined || isPast) return { runs, isAll: true };
    token = next;
  }
  return { runs, isAll: false };
}

function countedOf(item: RunItem, workflow: string): CountedRun[] {
  const { run, phase, acceptedTime, startTime, completionTime, reason, message } = item;
  const acceptedAt = Date.parse(acceptedTime ?? startTime ?? completionTime ?? '');
  if (Number.isNaN(acceptedAt)) return [];
  return [
    {
      run,
      workflow,
      phase,
      acceptedAt,
      ...(startTime !== undefined && { startedAt: Date.parse(startTime) }),
      ...(completionTime !== undefined && { endedAt: Date.parse(completionTime) }),
      ...(reason !== undefined && { reason }),
      ...(message !== undefined && { message }),
    },
  ];
}

/** What the project used on this day (UTC), such as `2026-11-25`, with deleted workflows. */
export async function readDayUsage(
  namespace: string,
  date: string,
  signal: AbortSignal,
): Promise<ShownUsage | null> {
  const path = `/projects/${encodeURIComponent(namespace)}/usage`;
  const { usage } = await callJson<ProjectUsage>(path, { signal });
  return usage?.date === date ? usage : null;
}

/** Records are whole objects with outputs: page size and total limit. */
const RECORD_PAGE = 100;
const MAX_RECORDS = 500;

export type ReadUsage = { usages: Usage[]; records: number; isAll: boolean };

export async function readUsage(namespace: string, signal: AbortSignal): Promise<ReadUsage> {
  const usages: Usage[] = [];
  let records = 0;
  let token: string | undefined;
  do {
    const page = await listObjects(RUNS, namespace, {
      limit: RECORD_PAGE,
      signal,
      ...(token !== undefined && { continue: token }),
    });
    records += page.items.length;
    usages.push(...page.items.flatMap(usageOf));
    token = page.continue;
  } while (token !== undefined && records < MAX_RECORDS);
  return { usages, records, isAll: token === undefined };
}

/** The usage of one run, without what it kept of another one; none if it called no model. */
export function usageOf({
  metadata,
  spec,
  status,
}: Pick<RunObject, 'metadata' | 'spec' | 'status'>): Usage[] {
  const beginning = {
    resume: spec.resume === true,
    accepted: status?.acceptedTime ?? metadata.creationTimestamp,
  };
  const own = (status?.nodes ?? []).filter((node) => !isKept(node, beginning));
  const used = own.flatMap(({ usage }) => usage ?? []);
  const at = Date.parse(status?.startTime ?? metadata.creationTimestamp ?? '');
  if (used.length === 0 || Number.isNaN(at)) return [];
  const sum = (key: 'inputTokens' | 'outputTokens') =>
    used.reduce((all, usage) => all + (usage[key] ?? 0), 0);
  return [{ at, input: sum('inputTokens'), output: sum('outputTokens') }];
}
