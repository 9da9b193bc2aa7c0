/** The recent runs of each workflow as bars, from one Table of the project's runs. */
import { LABEL } from '../../api/group.ts';
import { isTerminal, RUN_PHASES, type RunPhase } from '../../api/phase.ts';
import { numberCell, perRow, textCell, type Row } from '../kube/table.ts';
import { count } from '../ui/format.ts';

export type RunBar = {
  run: string;
  /** When it was accepted. */
  at: string;
  phase: RunPhase;
  /** The run succeeded, although items of a loop failed. */
  hasFailures: boolean;
  /** Undefined while unknown. */
  durationMs?: number;
  test: boolean;
};

const SHOWN = 20;

/** The number of bars per workflow. */
export const RECENT_RUNS = SHOWN;

type Run = RunBar & { workflow: string };

/**
 * At most 20 runs by workflow, oldest first. Unchanged workflows keep their lists. Requests of *Help me
 * build* are no runs of the workflow as its users know it.
 */
export function recentRuns(rows: Row[], before?: ReadonlyMap<string, RunBar[]>): Map<string, RunBar[]> {
  const byWorkflow = new Map<string, Run[]>();
  const own = rows.filter(({ metadata }) => metadata.labels?.[LABEL.helpMeBuild] !== 'true');
  for (const run of own.map(runOf)) {
    const runs = byWorkflow.get(run.workflow);
    if (runs === undefined) byWorkflow.set(run.workflow, [run]);
    else runs.push(run);
  }
  return new Map(
    [...byWorkflow].map(([workflow, runs]) => [
      workflow,
      sameOr(
        before?.get(workflow),
        runs.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)).slice(-SHOWN),
      ),
    ]),
  );
}

function sameOr(before: RunBar[] | undefined, now: RunBar[]): RunBar[] {
  const isSame = before?.length === now.length && before.every((bar, at) => bar === now[at]);
  return isSame ? before : now;
}

const runOf = perRow(readRun);

function readRun(row: Row): Run {
  const { name, creationTimestamp = '' } = row.metadata;
  const started = textCell(row, 'Started');
  const completed = textCell(row, 'Completed');
  const phase = RUN_PHASES.find((known) => known === row.cells['Phase']) ?? 'Pending';
  return {
    run: name,
    workflow: textCell(row, 'Workflow') ?? '',
    at: textCell(row, 'Accepted') ?? creationTimestamp,
    phase,
    hasFailures: phase === 'Succeeded' && numberCell(row, 'Failed items') > 0,
    test: row.cells['Test'] === true,
    ...(started !== undefined &&
      completed !== undefined && { durationMs: Date.parse(completed) - Date.parse(started) }),
  };
}

type Counted = { name: string; succeeded: number; failed: number; lastRun?: string };

/**
 * The status counts at most once a minute: until then recorded runs are counted, and the newest one is the
 * last run. Test runs do not count.
 */
export function countedSoFar<T extends Counted>(items: T[], recent: ReadonlyMap<string, RunBar[]>): T[] {
  return items.map((item) => {
    const live = recent.get(item.name)?.filter(({ test }) => !test) ?? [];
    const newest = live.at(-1);
    const isCounted = item.succeeded + item.failed > 0;
    // Unchanged ones stay the same objects, so that their rows are not redrawn.
    if (newest === undefined || (isCounted && item.lastRun !== undefined)) return item;
    const number = (phase: RunPhase) => live.filter((bar) => bar.phase === phase).length;
    const [succeeded, failed] = isCounted
      ? [item.succeeded, item.failed]
      : [number('Succeeded'), number('Failed')];
    if (item.lastRun !== undefined && succeeded + failed === 0) return item;
    return { ...item, lastRun: item.lastRun ?? newest.at, succeeded, failed };
  });
}

/**
 * The heights of the bars, 0 to 1: the logarithm of the duration, because runs take from milliseconds to
 * hours.
 */
export function heights(bars: RunBar[]): number[] {
  const logs = bars.map(({ durationMs }) =>
    durationMs === undefined ? 0 : Math.log1p(Math.max(0, durationMs)),
  );
  const most = Math.max(...logs, 0);
  return logs.map((log) => (most === 0 ? 1 : log / most));
}

/** The bars as text: "9 of 10 succeeded, 1 failed, 2 test runs (hollow)". */
export function barsText(bars: RunBar[]): string {
  if (bars.length === 0) return 'No recorded runs';
  const number = (phase: RunPhase) => bars.filter((bar) => bar.phase === phase).length;
  const others = RUN_PHASES.filter((phase) => phase !== 'Succeeded')
    .map((phase) => [number(phase), phase.toLowerCase()] as const)
    .filter(([runs]) => runs > 0);
  const ended = bars.filter(({ phase }) => isTerminal(phase)).length;
  const partial = bars.filter(({ hasFailures }) => hasFailures).length;
  const tests = bars.filter(({ test }) => test).length;
  return [
    ...(ended > 0 ? [`${number('Succeeded')} of ${ended} succeeded`] : []),
    ...(partial > 0 ? [`${partial} of them with failed items`] : []),
    ...others.map(([runs, phase]) => `${runs} ${phase}`),
    ...(tests > 0 ? [`${count(tests, 'test run')} (hollow)`] : []),
  ].join(', ');
}
