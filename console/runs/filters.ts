/** Filters and order of a list of runs. The URL contains them, so that they can be shared. */
import { RUN_PHASES, type RunPhase } from '../../api/phase.ts';
import { LABEL } from '../../api/group.ts';
import { numberCell, perRow, textCell, type Row } from '../kube/table.ts';
import { failureText } from './live/failureText.ts';

const SPANS = { hour: 3_600_000, day: 86_400_000, week: 604_800_000 } as const;
type Span = keyof typeof SPANS;

export type RunFilters = {
  phase?: RunPhase;
  workflow?: string;
  trigger?: string;
  /** Only runs of the last hour, day or week. */
  within?: Span;
  text?: string;
  test?: 'only' | 'none';
  /** Only child runs of this run. */
  parent?: string;
};

/** A run in a list. */
export type ListedRun = {
  run: string;
  workflow: string;
  phase: RunPhase;
  trigger: string;
  test: boolean;
  /** When the event was accepted, in milliseconds. */
  at: number;
  startTime?: string | undefined;
  completionTime?: string | undefined;
  reason?: string | undefined;
  message?: string | undefined;
  until?: string | undefined;
  retryOf?: string | undefined;
  requestedBy?: string | undefined;
  parent?: string | undefined;
  /** Items of a loop failed, although the run succeeded. */
  hasFailures?: true;
  /** The console asked a model for a draft in it (*Help me build*). */
  isBuild?: boolean;
  /** The run has no record. */
  isSummary: boolean;
};

/** Reads the filters from the URL. Invalid values are dropped. */
export function runFilters(search: Record<string, unknown>): RunFilters {
  const { workflow, trigger, text, test, within, parent } = search;
  const phase = RUN_PHASES.find((one) => one === search['phase']);
  return {
    ...(phase && { phase }),
    ...(isName(workflow) && { workflow }),
    ...(isName(trigger) && { trigger }),
    ...((within === 'hour' || within === 'day' || within === 'week') && { within }),
    ...(isName(text) && { text }),
    ...(isName(parent) && { parent }),
    ...((test === 'only' || test === 'none') && { test }),
  };
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

export const runOfRow = perRow(readRun);

function readRun(row: Row): ListedRun {
  const { name, creationTimestamp = '', labels } = row.metadata;
  const phase = RUN_PHASES.find((one) => one === row.cells['Phase']) ?? 'Pending';
  const accepted = textCell(row, 'Accepted') ?? creationTimestamp;
  const test = row.cells['Test'];
  return {
    run: name,
    workflow: textCell(row, 'Workflow') ?? '',
    phase,
    trigger: textCell(row, 'Trigger') ?? '',
    test: test === true || test === 'true',
    at: Date.parse(accepted) || 0,
    startTime: textCell(row, 'Started'),
    completionTime: textCell(row, 'Completed'),
    reason: textCell(row, 'Reason'),
    message: textCell(row, 'Message'),
    until: textCell(row, 'Until'),
    retryOf: textCell(row, 'Retry of'),
    requestedBy: textCell(row, 'Requested by'),
    parent: labels?.[LABEL.parent],
    isBuild: labels?.[LABEL.helpMeBuild] === 'true',
    ...(phase === 'Succeeded' && numberCell(row, 'Failed items') > 0 && { hasFailures: true }),
    isSummary: false,
  };
}

/** Why a run failed, or that items of it did; empty: nothing failed. */
export function errorOf({ message, reason, hasFailures }: ListedRun): string {
  if (message !== undefined) return failureText(message);
  return reason ?? (hasFailures ? 'Some items failed' : '');
}

type Ended = { name: string; succeeded: number; failed: number };

/** Whether more live runs of these workflows ended than are listed: others were pruned, or have no record. */
export function hasUnlisted(runs: readonly ListedRun[], workflows: readonly Ended[]): boolean {
  const ended = runs.filter(({ test, phase }) => !test && (phase === 'Succeeded' || phase === 'Failed'));
  const listed = Map.groupBy(ended, ({ workflow }) => workflow);
  return workflows.some(
    ({ name, succeeded, failed }) => succeeded + failed > (listed.get(name)?.length ?? 0),
  );
}

/** The matching runs, newest first. */
export function filtered(runs: readonly ListedRun[], filters: RunFilters, now: number): ListedRun[] {
  return runs.filter((run) => passes(run, filters, now)).toSorted(byNewest);
}

function byNewest(a: ListedRun, b: ListedRun): number {
  return b.at - a.at || (a.run < b.run ? 1 : -1);
}

function passes(run: ListedRun, filters: RunFilters, now: number): boolean {
  const { phase, workflow, trigger, within, text, test, parent } = filters;
  if (parent !== undefined && run.parent !== parent) return false;
  if (phase !== undefined && run.phase !== phase) return false;
  if (workflow !== undefined && run.workflow !== workflow) return false;
  if (trigger !== undefined && run.trigger !== trigger) return false;
  if (test !== undefined && run.test !== (test === 'only')) return false;
  if (within !== undefined && run.at < now - SPANS[within]) return false;
  return text === undefined || hasText(run, text.trim().toLowerCase());
}

function hasText(listed: ListedRun, text: string): boolean {
  const { run, workflow, reason = '', requestedBy = '' } = listed;
  return [run, workflow, reason, errorOf(listed), requestedBy].some((part) =>
    part.toLowerCase().includes(text),
  );
}

/** Whether only a text is searched. */
export function isSearched({ text, ...others }: RunFilters): boolean {
  return text !== undefined && !isFiltered(others);
}

/** What to do if no run matches. */
export function noMatchAdvice(filters: RunFilters): string {
  if (isSearched(filters)) return 'Search for something else.';
  return filters.within === undefined ? 'Remove a filter.' : 'Remove a filter or choose a longer time.';
}

export function isFiltered(filters: RunFilters): boolean {
  return Object.keys(filters).length > 0;
}
