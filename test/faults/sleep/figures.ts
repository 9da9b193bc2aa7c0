/** What projects that sleep and wake under faults did, in figures, and whether that is enough. Pure. */
import type { FaultRecord, Measure, SentEvent } from '../evidence.ts';
import { quantile } from '../scheduleChecker.ts';
import { isAccepted } from '../sender.ts';
import { dueOf, timeOf } from './checker.ts';
import {
  MOMENTS,
  replicasAt,
  VICTIMS,
  type PoolChange,
  type SleepEvidence,
  type SleepingProject,
} from './evidence.ts';

/** What a kill is near to, and what it may have delayed. */
const NEAR_MS = 5_000;
const CALM_MS = 20_000;
/** A sleeping project is woken ten seconds before it is due. */
const BEFORE_DUE_MS = 12_000;
/** A runner whose pool has just got no replicas may still be there. */
const SETTLED_MS = 5_000;
const LEAST_TIMES = 2;

type Switch = PoolChange & { before: number };

/** Each time at which a pool got no replicas, or some again. What was found at first is none. */
function switchesOf(changes: readonly PoolChange[]): Switch[] {
  return changes.flatMap((change, index) => {
    const before = replicasAt(changes.slice(0, index), change.project, change.at);
    return before === undefined || (before === 0) === (change.replicas === 0) ? [] : [{ ...change, before }];
  });
}

const isSleep = ({ replicas }: PoolChange): boolean => replicas === 0;

const isJustBefore = (at: number, fault: FaultRecord): boolean => fault.at >= at && fault.at <= at + NEAR_MS;

/** Whether the kill came at the moment that it was meant for. */
export function isAtMoment(fault: FaultRecord, { projects, changes }: SleepEvidence): boolean {
  const { name, project: named } = fault.moment ?? {};
  const project = projects.find((each) => each.project === named);
  if (!project) return false;
  const switches = switchesOf(changes).filter(
    (change) => change.project === named && isJustBefore(change.at, fault),
  );
  if (name === 'asleep') return switches.some(isSleep);
  if (name === 'woken') return switches.some((change) => !isSleep(change));
  if (name === 'due')
    return duesOf(project).some((due) => due >= fault.at && due <= fault.at + BEFORE_DUE_MS);
  return project.evidence.events.some((event) => {
    const at = acceptedAt(event);
    return at !== undefined && isJustBefore(at, fault) && replicasAt(changes, project.project, at) === 0;
  });
}

/** When waits, schedules, callbacks and polls of the project were due. */
function duesOf(project: SleepingProject): number[] {
  const { evidence, times, callbacks, mails } = project;
  const waits = evidence.events.flatMap((event) => dueOf(project, event) ?? []);
  return [...waits, ...times, ...[...callbacks, ...mails].map(({ at }) => at)];
}

function acceptedAt({ attempts }: SentEvent): number | undefined {
  const accepted = attempts.find(isAccepted);
  return accepted && accepted.at + accepted.ms;
}

/** Why the run does not count; undefined where it does. */
export function tooFew(evidence: SleepEvidence): string | undefined {
  const switches = switchesOf(evidence.changes);
  const missing = evidence.projects.flatMap(({ project }) => {
    const own = switches.filter((change) => change.project === project);
    const sleeps = own.filter(isSleep).length;
    const wakes = own.length - sleeps;
    return Math.min(sleeps, wakes) >= LEAST_TIMES
      ? []
      : [`${project} slept ${sleeps} and woke ${wakes} times`];
  });
  const kills = evidence.faults.filter((fault) => isAtMoment(fault, evidence));
  for (const name of MOMENTS) {
    for (const victim of VICTIMS) {
      if (killsOf(kills, name, victim) === 0) missing.push(`no kill of ${victim} at the moment ${name}`);
    }
  }
  const callbacks = whileAsleep(evidence);
  if (callbacks < LEAST_TIMES) missing.push(`callbacks called while the runners slept: ${callbacks}`);
  return missing.length === 0 ? undefined : missing.join('; ');
}

/** How many callbacks were first called while the runners of their project slept. */
function whileAsleep({ projects, changes }: SleepEvidence): number {
  return projects.flatMap(({ project, callbacks }) =>
    callbacks.filter(({ at }) => replicasAt(changes, project, at) === 0),
  ).length;
}

const killsOf = (kills: readonly FaultRecord[], name: string, victim: string): number =>
  kills.filter(({ kind, moment }) => kind === `kill-${victim}` && moment?.name === name).length;

const TITLES = {
  asleep: 'just after a pool got no replicas',
  woken: 'just after a pool got replicas again',
  accepted: 'just after an event was accepted for a sleeping project',
  due: 'just before a wait, schedule, callback or poll was due',
} as const;

/** Rows of the report. */
export function sleepFigures(evidence: SleepEvidence): Measure[] {
  const { projects, changes, faults } = evidence;
  const switches = switchesOf(changes);
  const sleeps = switches.filter(isSleep).length;
  const kills = faults.filter((fault) => isAtMoment(fault, evidence));
  const wakes = projects.flatMap((project) => wakesOf(project, evidence));
  const times = (isCalm: boolean) => wakes.filter((wake) => wake.isCalm === isCalm).map(({ ms }) => ms);
  const waits = projects.flatMap((project) =>
    project.evidence.events.flatMap((event) => lateness(project, event, 'wait')),
  );
  const resumed = projects.flatMap((project) =>
    project.evidence.events.flatMap((event) => lateness(project, event, 'ask')),
  );
  const ticks = projects.flatMap(({ scheduled, times: due }) =>
    scheduled.filter(({ time }) => due.includes(time)).map(({ time, acceptedAt: at }) => at - time),
  );
  const mails = projects.flatMap(({ mails: sent, evidence: { effects } }) =>
    sent.flatMap(({ event, at }) => {
      const counted = timeOf({ effects }, event, 'first');
      return counted === undefined ? [] : [counted - at];
    }),
  );
  return [
    { what: `projects; sleeps; wakes`, seen: `${projects.length}; ${sleeps}; ${switches.length - sleeps}` },
    ...MOMENTS.map((name) => ({
      what: `kills of ${VICTIMS.join(', ')} ${TITLES[name]}`,
      seen: VICTIMS.map((victim) => killsOf(kills, name, victim)).join(', '),
    })),
    { what: 'kills within 5 s of another', seen: String(closeTogether(faults)) },
    {
      what: `event accepted by a sleeping project to first node, no kill in the ${CALM_MS / 1_000} s before or meanwhile`,
      seen: spread(times(true)),
      promised: 'p50 <= 5 s',
    },
    { what: 'the same, with a kill near', seen: spread(times(false)) },
    { what: 'waits that ended: so late was the next step', seen: spread(waits) },
    { what: 'callbacks: from the first call to the next step', seen: spread(resumed) },
    { what: 'callbacks that were first called while the runners slept', seen: String(whileAsleep(evidence)) },
    { what: 'schedules: from the scheduled time until the event was accepted', seen: spread(ticks) },
    { what: 'mails: from the creation of the poll pod to the first node', seen: spread(mails) },
  ];
}

function lateness(project: SleepingProject, event: SentEvent, workflow: string): number[] {
  const due = event.workflow === workflow ? dueOf(project, event) : undefined;
  const second = timeOf(project.evidence, event.id, 'second');
  return due === undefined || second === undefined ? [] : [second - due];
}

/** Of each sleep that an event ended: from its answer to the first node. */
function wakesOf(
  { project, evidence }: SleepingProject,
  { changes, faults }: SleepEvidence,
): { ms: number; isCalm: boolean }[] {
  const own = changes.filter((change) => change.project === project);
  const sleeps = switchesOf(own).filter(isSleep);
  return sleeps.flatMap(({ at: asleepAt }) => {
    const wokeAt = own.find(({ at, replicas }) => at > asleepAt && replicas > 0)?.at ?? Infinity;
    const events = evidence.events
      .map((event) => ({ id: event.id, at: acceptedAt(event) ?? Infinity }))
      .filter(({ at }) => at >= asleepAt + SETTLED_MS && at < wokeAt);
    const [first] = events.toSorted((a, b) => a.at - b.at);
    const began = first && timeOf(evidence, first.id, 'first');
    if (first === undefined || began === undefined) return [];
    const isCalm = !faults.some(({ at }) => at >= first.at - CALM_MS && at <= began);
    return [{ ms: began - first.at, isCalm }];
  });
}

function closeTogether(faults: readonly FaultRecord[]): number {
  return faults.filter(({ at }, index) => faults.slice(0, index).some((other) => at - other.at <= NEAR_MS))
    .length;
}

function spread(values: readonly number[]): string {
  if (values.length === 0) return 'none';
  const seconds = (share: number) => `${(quantile(values, share) / 1_000).toFixed(1)} s`;
  return `${values.length}: p50 ${seconds(0.5)}, longest ${seconds(1)}`;
}
