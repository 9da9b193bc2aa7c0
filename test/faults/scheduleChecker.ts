/** What schedules under faults have promised, compared with what was seen. Pure. */

export type ScheduledRun = {
  run: string;
  schedule: string;
  phase: string;
  /** For when it was; NaN where its record does not say. */
  time: number;
  acceptedAt: number;
};

export type ScheduleEvidence = {
  schedules: readonly string[];
  /** The times at which each of them had to start a run. */
  times: readonly number[];
  runs: readonly ScheduledRun[];
  /** When the container of a tick started, in whole seconds, by `<schedule> <time>`. */
  starts: ReadonlyMap<string, number>;
  kills: number;
};

const SUBMITTED_WITHIN_MS = 5_000;

/** Whether there is a run that has ended for each time of each schedule. */
export function isComplete(evidence: Pick<ScheduleEvidence, 'schedules' | 'times' | 'runs'>): boolean {
  return eventsOf(evidence).every(({ runs }) => runs.some(({ phase }) => phase === 'Succeeded'));
}

/**
 * Every promise that was broken, in words, and a page's rows on all that was seen. `submittedWithinMs`: what
 * a tick may take; more than the default where the run store is away in between.
 */
export function brokenBy(
  evidence: ScheduleEvidence,
  submittedWithinMs = SUBMITTED_WITHIN_MS,
): { broken: string[]; rows: string[] } {
  const { schedules, times, starts, kills } = evidence;
  const events = eventsOf(evidence);
  const inTotal = events.flatMap(({ runs }) => runs);
  const startToSubmit = inTotal.flatMap(({ schedule, time, acceptedAt }) => {
    const started = starts.get(`${schedule} ${time}`);
    return started === undefined ? [] : [acceptedAt - started];
  });
  const p99 = quantile(startToSubmit, 0.99);
  const broken = [
    ...timesBroken(evidence).map(({ message }) => message),
    ...(p99 < submittedWithinMs ? [] : [`from start to submit a tick took ${p99} ms (p99)`]),
    // What nobody saw was not fast.
    ...(startToSubmit.length * 2 >= inTotal.length
      ? []
      : [`of ${inTotal.length} ticks the start of ${startToSubmit.length} was seen`]),
  ];
  const lateness = inTotal.map(({ time, acceptedAt }) => acceptedAt - time);
  const rows = [
    `${schedules.length} schedules at \`* * * * *\` for ${times.length} minutes, ${kills} kills of operator, gateway and runners, one after the other.`,
    '',
    '| what | seen | promised |',
    '| --- | --- | --- |',
    `| runs | ${inTotal.length} | ${events.length} |`,
    `| times without a run | ${events.filter(({ runs }) => runs.length === 0).length} | 0 |`,
    `| times with more than one | ${events.filter(({ runs }) => runs.length > 1).length} | 0 |`,
    `| start of the container to submit, of ${startToSubmit.length} (up to 1 s too much: starts are whole seconds) | ${spread(startToSubmit)} | p99 < ${submittedWithinMs / 1_000} s |`,
    `| scheduled time to submit | ${spread(lateness)} | |`,
  ];
  return { broken, rows };
}

/** Times of schedules that have no run, several, or one that has not succeeded. */
export function timesBroken(
  evidence: Pick<ScheduleEvidence, 'schedules' | 'times' | 'runs'>,
): TimeViolation[] {
  return eventsOf(evidence).flatMap(({ name, runs }) => problemsOf(name, runs));
}

type TimeViolation = { kind: 'lost' | 'twice' | 'failed'; message: string; run?: string };
type Expected = { name: string; runs: ScheduledRun[] };

function eventsOf({
  schedules,
  times,
  runs,
}: Pick<ScheduleEvidence, 'schedules' | 'times' | 'runs'>): Expected[] {
  return schedules.flatMap((schedule) =>
    times.map((time) => ({
      name: `${schedule} at ${new Date(time).toISOString().slice(11, 16)}`,
      runs: runs.filter((run) => run.schedule === schedule && run.time === time),
    })),
  );
}

function problemsOf(name: string, runs: readonly ScheduledRun[]): TimeViolation[] {
  if (runs.length === 0) return [{ kind: 'lost', message: `${name} has no run` }];
  if (runs.length > 1) {
    const names = runs.map(({ run }) => run).join(', ');
    return [{ kind: 'twice', message: `${name} has ${runs.length} runs: ${names}` }];
  }
  return runs
    .filter(({ phase }) => phase !== 'Succeeded')
    .map(({ run, phase }) => ({ kind: 'failed', run, message: `${name}: run ${run} is ${phase}` }));
}

/** The least value that is not below this share of all; 0 of none. */
export function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.max(Math.ceil(share * values.length) - 1, 0)] ?? 0;
}

function spread(values: readonly number[]): string {
  const at = (share: number) => `${(quantile(values, share) / 1_000).toFixed(1)} s`;
  return `p50 ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)}`;
}
