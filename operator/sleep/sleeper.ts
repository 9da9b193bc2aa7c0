/**
 * Lets the runners of projects without work sleep, and wakes them: by the messages that runners would get, by
 * the time at which a parked run is due, and by reading each sleeping project every 30 seconds, since
 * messages may be lost. What cannot be read changes nothing.
 */
import { expireMemories } from '../../runs/memoryRemoval.ts';
import { readWork, watchWork } from '../../runs/work.ts';
import { isUnavailable } from '../../store/connection.ts';
import { createSignal } from '../../store/signal.ts';
import { hasRunner, type Pools } from '../pods/pools.ts';
import { projectSleepAfter } from '../pods/scaling.ts';
import { pollIntervals } from '../poll/ensure.ts';
import { arePolledOften } from '../poll/period.ts';
import type { ScalingState } from '../scaling/state.ts';
import type { OperatorContext } from '../shared/context.ts';
import { POOL } from '../shared/names.ts';
import type { OpenProject } from '../store/allQuotas.ts';
import type { StoreChanges } from '../store/changes.ts';
import { hasNoReplicas, isAsleep, wokenAt } from '../scaling/asleep.ts';
import { decideSleep, remainingWakingMs, WAKING_MS, type SleepState } from './decide.ts';
import { checkInRound, checkWithin, isDue, isListening, readResting, type Watched } from './resting.ts';

type SleeperContext = Pick<OperatorContext, 'caches' | 'clock' | 'config' | 'conn' | 'log'> & {
  scaling: Pick<ScalingState, 'asleep' | 'waking' | 'decided' | 'changed'>;
  pools: Pick<Pools, 'accessChanged' | 'settingsChanged'>;
  storeChanges: Pick<StoreChanges, 'used'>;
};

type Project = Pick<OpenProject, 'uid' | 'namespace'>;

const LONGEST_WAIT_MS = 30_000;
const LEAST_WAIT_MS = 100;
/** After a project has fallen asleep, or is known to sleep, its messages arrive by then. */
const LISTENING_MS = 2_000;

/** Lets runners sleep and wakes them, until the signal is aborted. */
export async function maintainSleep(context: SleeperContext, signal: AbortSignal): Promise<void> {
  const { caches, clock, log, storeChanges } = context;
  const hint = createSignal();
  const sleeper = createSleeper(context, hint.raise);
  let open: readonly OpenProject[] = [];
  storeChanges.used.onChange((projects) => {
    open = projects;
    sleeper.readAwake();
    hint.raise();
  });
  // Runners that shall not sleep any more wake at once.
  const unsubscribe = caches.settings.onChange(hint.raise);
  signal.addEventListener('abort', hint.raise, { once: true });
  while (!signal.aborted) {
    const nextAt = await sleeper.update(withSleepers(context, open)).catch((error: unknown) => {
      log.warn({ err: error }, 'cannot let runners sleep or wake');
      return clock.now() + LONGEST_WAIT_MS;
    });
    const waitMs = Math.min(nextAt - clock.now(), LONGEST_WAIT_MS);
    if (!signal.aborted) await hint.wait(Math.max(LEAST_WAIT_MS, waitMs));
  }
  unsubscribe();
  sleeper.end();
}

/** Projects that have no runner although they have been waking for long count as starting. */
function endWaking({ clock, pools, scaling }: SleeperContext): void {
  for (const [namespace, until] of scaling.waking) {
    if (clock.now() < until) continue;
    scaling.waking.delete(namespace);
    for (const changed of [pools.accessChanged, pools.settingsChanged]) changed.notify(namespace);
  }
}

/** Stores the state of the project, and tells others of a change. */
function note(
  context: SleeperContext,
  namespace: string,
  project: Watched,
  { state, onMessage }: { state: SleepState; onMessage: () => void },
): void {
  const { log, pools, scaling } = context;
  const hasChanged = state.isAsleep !== project.state.isAsleep;
  project.state = state;
  if (!hasChanged) return;
  if (state.isAsleep) noteAsleep(context, namespace, project, onMessage);
  else noteAwake(context, namespace, project);
  log.info({ namespace }, state.isAsleep ? 'letting runners sleep' : 'waking runners');
  scaling.changed.notify(namespace);
  pools.accessChanged.notify(namespace);
}

function noteAsleep(
  { clock, conn, scaling }: SleeperContext,
  namespace: string,
  project: Watched,
  onMessage: () => void,
): void {
  scaling.asleep.set(namespace, true);
  // What a backlog needed before the sleep is no measure for the event that ends it.
  scaling.decided.delete(namespace);
  project.listensAt ??= clock.now() + LISTENING_MS;
  project.messages ??= watchWork(conn, project.uid, () => {
    project.checkAt = 0;
    onMessage();
  });
}

function noteAwake({ clock, scaling }: SleeperContext, namespace: string, project: Watched): void {
  scaling.asleep.set(namespace, false);
  project.messages?.end();
  project.messages = undefined;
  project.listensAt = undefined;
  scaling.waking.set(namespace, clock.now() + WAKING_MS);
}

/** A project that this process has not known before may be waking. */
function noteFirstAwake({ caches, clock, scaling }: SleeperContext, namespace: string): void {
  scaling.asleep.set(namespace, false);
  const since = wokenAt(caches.deployments.get(namespace, POOL));
  if (since === undefined) return;
  const remainingMs = remainingWakingMs(since, clock.date().getTime());
  if (remainingMs > 0) scaling.waking.set(namespace, clock.now() + remainingMs);
}

/** 0 also for a project without a pool. */
function sleepAfterIn(context: SleeperContext, namespace: string): number {
  const hasPool = context.caches.deployments.get(namespace, POOL) !== undefined;
  return hasPool ? projectSleepAfter(context, namespace) : 0;
}

/**
 * These projects, and those that sleep by their Deployments: that their use cannot be read must not keep them
 * from waking.
 */
function withSleepers({ caches }: SleeperContext, open: readonly Project[]): Project[] {
  const read = new Set(open.map(({ namespace }) => namespace));
  const unread = caches.deployments.list().flatMap((pool) => {
    const { namespace = '' } = pool.metadata;
    if (read.has(namespace) || !hasNoReplicas(pool)) return [];
    const uid = caches.namespaces.get(undefined, namespace)?.metadata.uid;
    return uid === undefined ? [] : [{ uid, namespace }];
  });
  return [...open, ...unread];
}

function createSleeper(context: SleeperContext, onMessage: () => void) {
  const { caches, clock, conn, log, scaling } = context;
  const watched = new Map<string, Watched>();

  function forget(namespace: string): void {
    watched.get(namespace)?.messages?.end();
    watched.delete(namespace);
    scaling.asleep.delete(namespace);
    scaling.waking.delete(namespace);
  }

  /** Runners that shall not sleep any more wake. */
  function release(namespace: string): void {
    const hasPool = caches.deployments.get(namespace, POOL) !== undefined;
    const isWaking = hasPool && watched.get(namespace)?.state.isAsleep === true;
    forget(namespace);
    if (isWaking) scaling.waking.set(namespace, clock.now() + WAKING_MS);
  }

  /** The project as it is watched; a new one is read at once. */
  function watchedOf({ uid, namespace }: Project): Watched {
    const known = watched.get(namespace);
    if (known?.uid === uid) return known;
    forget(namespace);
    const state = { isAsleep: isAsleep(context, namespace), quietSince: undefined, activity: undefined };
    const added: Watched = { uid, state, checkAt: 0, messages: undefined, listensAt: undefined };
    watched.set(namespace, added);
    if (state.isAsleep) noteAsleep(context, namespace, added, onMessage);
    else noteFirstAwake(context, namespace);
    return added;
  }

  async function check(namespace: string, project: Watched, sleepAfterMs: number): Promise<void> {
    // An awake project is read with the use of all projects. A message during the reading counts.
    project.checkAt = Infinity;
    const work = await readWork(conn, project.uid);
    const now = clock.now();
    if (isUnavailable(work)) return checkWithin(project, now, LONGEST_WAIT_MS);
    const pool = caches.deployments.get(namespace, POOL);
    const isAvailable = hasRunner(pool);
    const { checkMs, ...state } = decideSleep(project.state, {
      now,
      work,
      hasRunner: isAvailable,
      isPolledOften: arePolledOften(pollIntervals(caches, namespace)),
      sleepAfterMs,
    });
    if (isAvailable) scaling.waking.delete(namespace);
    // What becomes ready before messages arrive is not announced.
    if (state.isAsleep) {
      checkWithin(project, now, isListening(project, now) ? checkMs : LISTENING_MS);
      checkInRound(project, now);
    }
    const isUnwritten = !project.state.isAsleep && !state.isAsleep && hasNoReplicas(pool);
    note(context, namespace, project, { state, onMessage });
    // What kept the wake from being written may be over long before the back-off of the project is.
    if (isUnwritten) scaling.changed.notify(namespace);
    // Otherwise runners do it.
    if (state.isAsleep && work.hasExpired) await expireMemories(conn, project.uid);
  }

  /** A program with the account of a project may damage its keys, which must not concern others. */
  async function checkSafely(namespace: string, project: Watched, sleepAfterMs: number): Promise<void> {
    try {
      await check(namespace, project, sleepAfterMs);
    } catch (error) {
      log.warn({ namespace, err: error }, 'cannot read the work of a project');
      checkWithin(project, clock.now(), LONGEST_WAIT_MS);
    }
  }

  return {
    /** Has the next update read the projects that are awake. */
    readAwake: () => {
      for (const project of watched.values()) if (!project.state.isAsleep) project.checkAt = 0;
    },
    /** Reads the projects whose time has come. Answers when the next one is to be read. */
    update: async (projects: readonly Project[]): Promise<number> => {
      // A project that was not read is not gone: the run store may be away.
      for (const namespace of watched.keys()) if (sleepAfterIn(context, namespace) === 0) release(namespace);
      await readResting(context, watched);
      // Of a thousand projects most are not due.
      const due = projects.filter(({ uid, namespace }) => isDue(watched.get(namespace), uid, clock.now()));
      await Promise.all(
        due.map(async (project) => {
          const sleepAfterMs = sleepAfterIn(context, project.namespace);
          if (sleepAfterMs > 0) await checkSafely(project.namespace, watchedOf(project), sleepAfterMs);
        }),
      );
      endWaking(context);
      return Math.min(...projects.map(({ namespace }) => watched.get(namespace)?.checkAt ?? Infinity));
    },
    end: () => {
      for (const { messages } of watched.values()) messages?.end();
    },
  };
}
