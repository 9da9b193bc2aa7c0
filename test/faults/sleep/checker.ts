/** What runners that sleep promise, compared with what was seen. Pure. */
import { check, ENDED_WITHIN_MS, isUnknownEffect } from '../checker.ts';
import type { Evidence } from '../evidence.ts';
import { timesBroken } from '../scheduleChecker.ts';
import type { Violation } from '../violation.ts';
import type { SleepEvidence, SleepingProject } from './evidence.ts';
import { SCHEDULED, WAIT_MS } from './workflows.ts';

/** The clocks of sink and run store are read a moment apart. */
const SLACK_MS = 250;

/** All violations, of all projects. */
export function checkSleep({ projects }: Pick<SleepEvidence, 'projects'>): Violation[] {
  return projects.flatMap((project) => [
    ...check(sentIn(project)),
    ...unknownEffects(project),
    ...checkTimes(project),
    ...checkCallbacks(project),
    ...checkMails(project),
    ...checkEnds(project),
  ]);
}

/**
 * The evidence of what was sent. Nobody sends what schedules and polls start, and a wait or a callback may
 * end long after the last fault: their times are compared here.
 */
function sentIn({ evidence }: SleepingProject): Evidence {
  const totals = evidence.totals.filter(({ workflow }) => workflow in evidence.effectsOf);
  return { ...evidence, totals, faults: [] };
}

/** No runner is killed while it executes a step, so nobody may be in doubt. */
function unknownEffects({ evidence }: SleepingProject): Violation[] {
  return evidence.ended.filter(isUnknownEffect).map(({ run, message = '' }) => ({
    kind: 'failed',
    run,
    message: `${run} does not know whether its effect happened, and no runner was killed: ${message}`,
  }));
}

function checkTimes({ project, times, scheduled }: SleepingProject): Violation[] {
  return timesBroken({ schedules: [SCHEDULED], times, runs: scheduled }).map((violation) => ({
    ...violation,
    message: `${project}: ${violation.message}`,
  }));
}

function checkCallbacks({ callbacks, said }: SleepingProject): Violation[] {
  return callbacks.flatMap(({ event, isAnswered }): Violation[] => {
    if (!isAnswered) {
      return [{ kind: 'never-accepted', event, message: `the callback of ${event} was never accepted` }];
    }
    const other = said[event]?.find((body) => body !== event);
    if (other === undefined) return [];
    const message = `the callback of ${event} was answered with 2xx, and its run got another body: ${other}`;
    return [{ kind: 'wrong-answer', event, message }];
  });
}

/** Each mail is one run, which succeeded. */
function checkMails({ mails, evidence }: SleepingProject): Violation[] {
  const ended = new Map(evidence.ended.map((run) => [run.run, run]));
  return mails.flatMap(({ event }): Violation[] => {
    const named = [...evidence.histories, ...evidence.effects].filter((each) => each.event === event);
    const [run, ...others] = new Set(named.flatMap((each) => each.run ?? []));
    const counted = evidence.effects.filter((effect) => effect.event === event).length;
    if (run === undefined) return [{ kind: 'lost', event, message: `the mail ${event} has no run` }];
    if (others.length > 0) {
      const message = `the mail ${event} has several runs: ${[run, ...others].join(', ')}`;
      return [{ kind: 'twice', event, message }];
    }
    if (counted > 1) {
      const message = `the step of ${run} was counted ${counted} times`;
      return [{ kind: 'effect-twice', event, run, message }];
    }
    if (ended.get(run)?.phase === 'Succeeded') return [];
    return [{ kind: 'lost', event, run, message: `the mail ${event} started ${run}, which never succeeded` }];
  });
}

/** When the second step of the event's run is due: a wait or a callback comes before it. */
export function dueOf(
  { evidence, callbacks }: Pick<SleepingProject, 'evidence' | 'callbacks'>,
  { id, workflow }: { id: string; workflow: string },
): number | undefined {
  if (workflow === 'ask') return callbacks.find(({ event }) => event === id)?.at;
  const began = workflow === 'wait' ? timeOf(evidence, id, 'first') : undefined;
  return began === undefined ? undefined : began + WAIT_MS;
}

/** When the sink counted this step of the event first. */
export function timeOf(
  { effects }: Pick<Evidence, 'effects'>,
  event: string,
  node: string,
): number | undefined {
  const times = effects
    .filter((effect) => effect.event === event && effect.node === node)
    .map(({ at }) => at);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** Nothing that is due waits for longer than a crashed operator's successor and a pod need. */
function checkEnds(project: SleepingProject): Violation[] {
  const { evidence } = project;
  const sent = new Map(evidence.events.map((event) => [evidence.keyed[event.id], event]));
  return evidence.ended.flatMap(({ run, acceptedAt, endedAt }): Violation[] => {
    const event = sent.get(run);
    const due = event && dueOf(project, event);
    const late = endedAt - Math.max(acceptedAt, due ?? 0);
    const second = event?.workflow === 'wait' ? timeOf(evidence, event.id, 'second') : undefined;
    if (second !== undefined && due !== undefined && second < due - SLACK_MS) {
      return [{ kind: 'early', run, message: `the wait of ${run} ended ${due - second} ms too early` }];
    }
    if (late <= ENDED_WITHIN_MS) return [];
    return [{ kind: 'late', run, message: `${run} ended ${Math.round(late / 1_000)} s after it was due` }];
  });
}
