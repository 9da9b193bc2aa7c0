/**
 * Projects whose runners sleep after the shortest time that is permitted, and are woken again and again while
 * operator, gateway and Redis are killed at the moments that matter.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { kubeconfigConnection, type KubeConnection } from '../../../kube/config.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { createAttempts } from '../attempt.ts';
import { ENDED_WITHIN_MS } from '../checker.ts';
import { eventIn } from '../effects.ts';
import type { Evidence, FaultRecord } from '../evidence.ts';
import { gather, settle } from '../gather.ts';
import { REPLICATED, startHarness, type Harness, type TestCluster } from '../harness.ts';
import type { FaultRun } from '../load.ts';
import { randomNumbers } from '../plan.ts';
import { isComplete } from '../scheduleChecker.ts';
import { readRuns } from '../schedules.ts';
import { watchRuns, type Watcher } from '../watch.ts';
import { checkSleep } from './checker.ts';
import type { SleepEvidence, SleepingProject } from './evidence.ts';
import { sleepFigures, tooFew } from './figures.ts';
import { createKiller, type Killer } from './kills.ts';
import { watchPools } from './pools.ts';
import { endVisits, receivedCalls, visitAgainAndAgain, type Visits } from './visits.ts';
import { ALL_WORKFLOWS, SCHEDULED, SENT, sleepManifest, timesOf, WAIT_MS } from './workflows.ts';

/** As under other faults, with one runner for each project: that one sleeps and wakes. */
export const SLEEPING = { ...REPLICATED, runner: { ...REPLICATED.runner, replicas: 1 } };

export type SleepHarness = { cluster: TestCluster; projects: Harness[]; remove(): Promise<void> };

export type SleepOptions = {
  harness: SleepHarness;
  minutes: number;
  seed: number;
  tell: (line: string) => void;
};

/** Callers that wait for a reply wait for 60 s: longer than a project takes to wake. */
const TIMEOUT_MS = 65_000;
/** Before that share of the time is over nothing is killed: wakes without a fault are measured. */
const CALM_SHARE = 0.25;
const TELL_MS = 15_000;

/** So many projects, when all of their workflows are ready. The first one starts the systems outside. */
export async function startSleepers(cluster: TestCluster, count: number): Promise<SleepHarness> {
  const start = (index: number) =>
    startHarness(cluster, {
      workflows: ALL_WORKFLOWS,
      manifest: (hosts, project) => sleepManifest(hosts, project, index),
    });
  const first = await start(0);
  const others = await Promise.all(Array.from({ length: count - 1 }, (_, index) => start(index + 1)));
  const projects = [first, ...others];
  return {
    cluster,
    projects,
    remove: async () => void (await Promise.all(projects.map((project) => project.remove()))),
  };
}

/** Never throws for what the system did: that is a violation, or makes the run invalid. */
export async function runSleep({ harness, minutes, seed, tell }: SleepOptions): Promise<FaultRun> {
  const began = Date.now();
  const until = began + minutes * 60_000;
  const { cluster, projects } = harness;
  const connection = await kubeconfigConnection(cluster.kubeconfigPath);
  const names = projects.map(({ project }) => project);
  const watchers = await Promise.all(names.map((name) => watchRuns(cluster.kubeconfigPath, name)));
  const pools = watchPools(connection, names);
  const attempts = createAttempts(TIMEOUT_MS);
  const killer = createKiller({ harness: { cluster, project: names[0] ?? '' }, connection, seed, tell });
  pools.onChange(({ project, replicas }) => {
    void killer.reached(replicas === 0 ? 'asleep' : 'woken', project);
  });
  const all = projects.map((each, index): Visits => {
    const lists = { events: [], callbacks: [], mails: [], asked: [], sending: [], count: 0 };
    const random = randomNumbers(seed + index);
    return { harness: each, index, attempts, pools, killer, random, ...lists };
  });
  const telling = setInterval(() => {
    const asleep = names.filter((name) => pools.isAsleep(name)).length;
    const events = all.reduce((sum, each) => sum + each.events.length, 0);
    tell(`${events} events, ${asleep} of ${names.length} projects asleep, ${killer.faults.length} kills`);
  }, TELL_MS);
  const calm = setTimeout(() => killer.begin(), (until - began) * CALM_SHARE);
  try {
    await Promise.all(all.map((visits) => visitAgainAndAgain(visits, until)));
    await killer.end();
    tell('no more faults: waiting for what is due');
    await Promise.all(all.map(endVisits));
    await lastWaits(all);
    const found = await Promise.all(
      all.map((visits, index) =>
        readProject(visits, { connection, watcher: watchers[index], killer, from: began, until, tell }),
      ),
    );
    const evidence: SleepEvidence = { projects: found, changes: pools.changes, faults: killer.faults };
    const invalid = tooFew(evidence);
    return {
      evidence: together(found, killer.faults),
      violations: checkSleep(evidence),
      taken: [],
      measures: sleepFigures(evidence),
      ...(invalid !== undefined && { invalid }),
      gaps: watchers.reduce((sum, watcher) => sum + watcher.gaps(), 0),
      seconds: Math.round((Date.now() - began) / 1_000),
    };
  } finally {
    clearInterval(telling);
    clearTimeout(calm);
    await Promise.all([killer.end(), pools.stop(), ...watchers.map((watcher) => watcher.stop())]);
    attempts.close();
  }
}

/** Until the waits of the last events are due. */
async function lastWaits(all: readonly Visits[]): Promise<void> {
  const times = all.flatMap(({ events }) =>
    events
      .filter(({ workflow }) => workflow === 'wait')
      .flatMap(({ attempts }) => attempts.map(({ at, ms }) => at + ms)),
  );
  await delay(Math.max(0, Math.max(0, ...times) + WAIT_MS - Date.now()));
}

type Reading = {
  connection: KubeConnection;
  watcher: Watcher | undefined;
  killer: Killer;
  /** The times of schedules count from then on, and before. */
  from: number;
  until: number;
  tell: (line: string) => void;
};

/** What became of everything in a project, once all has ended as far as the time allows in which it must. */
async function readProject(
  { harness, index, events, callbacks, mails }: Visits,
  { connection, watcher, killer, from, until, tell }: Reading,
): Promise<SleepingProject> {
  const { project, store, sinks } = harness;
  const times = timesOf(index, from, until);
  const schedules = [SCHEDULED];
  const scheduled = () => readRuns(connection, project, schedules);
  const isDone = async () => isComplete({ schedules, times, runs: await scheduled() });
  await pollUntil(`a run of each time in ${project}`, isDone, {
    timeoutMs: ENDED_WITHIN_MS,
    everyMs: 1_000,
  }).catch((error: unknown) => tell(`✗ ${String(error)}`));
  await settle(store, tell);
  const evidence = await gather(
    { harness, sender: { events }, faults: killer.faults, slips: [], failovers: [], content: SENT },
    { known: new Map(), before: [], losses: [] },
    () => watcher?.histories() ?? [],
  );
  const calls = await receivedCalls(sinks.http);
  const said = Object.groupBy(
    calls.filter(({ idempotencyKey = '' }) => idempotencyKey.split('/')[2] === 'second'),
    ({ body }) => eventIn(body),
  );
  return {
    project,
    evidence,
    times,
    scheduled: await scheduled(),
    callbacks,
    said: Object.fromEntries(callbacks.map(({ event }) => [event, bodies(said[event])])),
    mails,
  };
}

const bodies = (calls: readonly { body: string }[] = []): string[] =>
  calls.map(({ body }) => String((JSON.parse(body) as { said?: unknown }).said));

/** The evidence of all projects, for the report. */
function together(projects: readonly SleepingProject[], faults: readonly FaultRecord[]): Evidence {
  const each = projects.map(({ evidence }) => evidence);
  return {
    events: each.flatMap(({ events }) => events),
    effects: each.flatMap(({ effects }) => effects),
    ended: each.flatMap(({ ended }) => ended),
    keyed: Object.assign({}, ...each.map(({ keyed }) => keyed)) as Evidence['keyed'],
    histories: each.flatMap(({ histories }) => histories),
    totals: each.flatMap(({ totals }) => totals),
    faults,
    effectsOf: SENT.effectsOf,
  };
}
