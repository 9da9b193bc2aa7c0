/**
 * Reads the data of the overview: the runs of each workflow in the period, newest first and including
 * summaries, its unfinished runs, and model usage from records. All are limited and report how much they
 * counted.
 */
import type { RunItem, RunPage } from '../../api/runView.ts';
import { workflowId } from '../../api/group.ts';
import type { ProjectUsage, ShownUsage, WorkflowUsage } from '../../api/usage.ts';
import { callJson } from '../http/call.ts';
import { eachAtOnce } from '../http/eachAtOnce.ts';
import { listObjects } from '../kube/objects.ts';
import { RUNS, type RunObject } from '../kube/resources.ts';
import { isKept } from '../runs/keptNodes.ts';
import { openCount, unfinishedIn, type CountedRun, type Unfinished, type Usage } from './statistics.ts';

const PAGE = 500;
const MAX_PAGES = 4;
/** The limit of workflows to read, most recently run first. */
export const MAX_WORKFLOWS = 40;
const AT_ONCE = 4;

/** `open`: how many unfinished runs its status has. It is up to a minute old, ten while runners sleep. */
export type WorkflowToRead = { name: string; open: number };

export type ReadRuns = {
  /** Without test runs. */
  runs: CountedRun[];
  /** By workflow; left out where not all of them were read. */
  unfinished: ReadonlyMap<string, Unfinished>;
  isAll: boolean;
};

/** The runs of these workflows that were accepted since then, and all that are unfinished. */
export async function readRuns(
  namespace: string,
  workflows: WorkflowToRead[],
  { since, signal }: { since: number; signal: AbortSignal },
): Promise<ReadRuns> {
  const read: Omit<ReadRuns, 'unfinished'>[] = [];
  const unfinished = new Map<string, Unfinished>();
  await eachAtOnce(workflows, { atOnce: AT_ONCE, signal }, async (workflow) => {
    const { open, ...runs } = await readWorkflow(namespace, workflow, { since, signal });
    read.push(runs);
    if (open !== undefined) unfinished.set(workflow.name, open);
  });
  return { runs: read.flatMap(({ runs }) => runs), unfinished, isAll: read.every(({ isAll }) => isAll) };
}

type ReadWorkflow = { runs: CountedRun[]; open?: Unfinished; isAll: boolean };

/**
 * Reads on beyond the period while the status has more unfinished runs: some may wait for longer. One page
 * only, since they may have ended since.
 */
async function readWorkflow(
  namespace: string,
  { name, open: known }: WorkflowToRead,
  { since, signal }: { since: number; signal: AbortSignal },
): Promise<ReadWorkflow> {
  const path = `/workflows/${encodeURIComponent(workflowId(namespace, name))}/runs?limit=${PAGE}`;
  const items: RunItem[] = [];
  const counted = () => items.filter(({ test }) => test !== true).flatMap((item) => countedOf(item, name));
  const runs = () => counted().filter(({ acceptedAt }) => acceptedAt >= since);
  let token: string | undefined;
  let isPast = false;
  let beyond = 0;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const from = token === undefined ? '' : `&continue=${encodeURIComponent(token)}`;
    const { items: read, continue: next } = await callJson<RunPage>(`${path}${from}`, { signal });
    items.push(...read);
    isPast ||= counted().some(({ acceptedAt }) => acceptedAt < since);
    const open = unfinishedIn(items);
    if (next === undefined || (isPast && openCount(open) >= known))
      return { runs: runs(), open, isAll: true };
    if (isPast) beyond += 1;
    if (beyond > 1) break;
    token = next;
  }
  return { runs: runs(), isAll: isPast };
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

/** What a project used on a day, with deleted workflows, and what each of its workflows did. */
export type DayUse = { usage: ShownUsage; workflows: readonly WorkflowUsage[] };

/** The use on this day (UTC), such as `2026-11-25`, in one answer: the workflows add up to the project. */
export async function readDayUse(
  namespace: string,
  date: string,
  signal: AbortSignal,
): Promise<DayUse | null> {
  const path = `/projects/${encodeURIComponent(namespace)}/usage`;
  const { usage, workflows = [] } = await callJson<ProjectUsage>(path, { signal });
  return usage?.date === date ? { usage, workflows } : null;
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
