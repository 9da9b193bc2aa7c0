/**
 * Adapts the runners of projects to their backlogs. Each project with work is read every five seconds, with
 * those of all projects in one write to the run store. A project without work is not read: that it has none
 * is known from the reading of all quotas. What cannot be read changes nothing.
 */
import { readBacklog } from '../../runs/backlog.ts';
import { isUnavailable } from '../../store/connection.ts';
import { createSignal } from '../../store/signal.ts';
import { projectScaling, type ScalingBounds } from '../pods/scaling.ts';
import type { OperatorConfig } from '../shared/config.ts';
import type { OperatorContext } from '../shared/context.ts';
import { isAsleep } from './asleep.ts';
import { POOL } from '../shared/names.ts';
import type { OpenProject } from '../store/allQuotas.ts';
import type { StoreChanges } from '../store/changes.ts';
import { decideReplicas, noDecisions, type Decisions } from './decide.ts';
import { demandAfter, type Demand, type Reading } from './need.ts';
import type { ScalingState } from './state.ts';

type ScalerContext = Pick<OperatorContext, 'caches' | 'clock' | 'config' | 'conn' | 'log'> & {
  scaling: Pick<ScalingState, 'asleep' | 'waking' | 'decided' | 'needed' | 'changed'>;
};

/** A project whose runners follow its backlog. */
type Scaled = OpenProject & { engine: 'Builtin' | 'KEDA'; bounds: ScalingBounds };

const IDLE = { ready: 0, claimed: 0, oldestMs: 0, ended: 0 };
/** How many runs a runner executes at a time unless `runner.env` says something else: its own default. */
const CONCURRENCY = 50;
const WAIT_MS = 60_000;

/** Adapts the runners until the signal is aborted, each time when the use of all projects was read. */
export async function maintainScaling(
  context: ScalerContext & { storeChanges: Pick<StoreChanges, 'used'> },
  signal: AbortSignal,
): Promise<void> {
  const update = createScaler(context);
  const read = createSignal();
  let latest: readonly OpenProject[] = [];
  context.storeChanges.used.onChange((projects) => {
    latest = projects;
    read.raise();
  });
  signal.addEventListener('abort', read.raise, { once: true });
  while (!signal.aborted) {
    const projects = latest;
    latest = [];
    await update(projects).catch((error: unknown) => context.log.warn({ err: error }, 'scaling failed'));
    if (!signal.aborted) await read.wait(WAIT_MS);
  }
}

/** Runners do not start with an invalid value. */
function concurrencyOf({ RUNNER_ENV: env }: Pick<OperatorConfig, 'RUNNER_ENV'>): number {
  const given = Number(env['CONCURRENCY']);
  return given > 0 ? given : CONCURRENCY;
}

/** Each call reads the projects among these that have work, and decides. */
function createScaler(context: ScalerContext): (projects: readonly OpenProject[]) => Promise<void> {
  const { caches, clock, config, conn, log, scaling } = context;
  const demands = new Map<string, Demand>();
  const decisions = new Map<string, Decisions>();
  const concurrency = concurrencyOf(config);

  function scaledOf(project: OpenProject): Scaled[] {
    const found = projectScaling(context, project.namespace);
    if (found.engine === 'Fixed' || found.engine === 'External') return [];
    const { engine, ...bounds } = found;
    return [{ ...project, engine, bounds }];
  }

  /**
   * Undefined if the project cannot be read. A program with the account of a project may damage its keys,
   * which must not keep the runners of others as they are.
   */
  async function readProject(project: OpenProject): Promise<Reading | undefined> {
    try {
      return await read(project);
    } catch (error) {
      log.warn({ namespace: project.namespace, err: error }, 'cannot read the backlog');
      return undefined;
    }
  }

  async function read({ uid, namespace, use }: OpenProject): Promise<Reading | undefined> {
    const runners = caches.deployments.get(namespace, POOL)?.status?.availableReplicas ?? 0;
    const at = clock.now();
    if (!use.isBusy) return { ...IDLE, at, runners };
    const uids = caches.workflows.list(namespace).flatMap(({ metadata }) => metadata.uid ?? []);
    const backlog = await readBacklog(conn, uid, uids);
    return isUnavailable(backlog) ? undefined : { ...backlog, at, runners };
  }

  function observeProject({ namespace, bounds }: Scaled, reading: Reading | undefined): void {
    if (reading === undefined) return;
    const demand = demandAfter(demands.get(namespace), reading, { ...bounds, concurrency });
    demands.set(namespace, demand);
  }

  /** The need of a project that was not read is not known any more. */
  function showNeeds(scaled: readonly Scaled[], readings: readonly (Reading | undefined)[]): void {
    scaling.needed.clear();
    for (const [index, { namespace }] of scaled.entries()) {
      const needed = readings[index] && demands.get(namespace)?.needed;
      if (needed !== undefined) scaling.needed.set(namespace, needed);
    }
  }

  function decide({ namespace, bounds }: Scaled, reading: Reading | undefined): void {
    const pool = caches.deployments.get(namespace, POOL);
    if (pool === undefined) return;
    const now = clock.now();
    const current = scaling.decided.get(namespace) ?? pool.spec?.replicas ?? bounds.min;
    const needed = reading && demands.get(namespace)?.needed;
    const situation = { now, needed, current, available: pool.status?.availableReplicas ?? 0 };
    const before = decisions.get(namespace) ?? noDecisions(now);
    const { replicas, decisions: after } = decideReplicas(before, situation, bounds);
    decisions.set(namespace, after);
    if (scaling.decided.get(namespace) === replicas) return;
    scaling.decided.set(namespace, replicas);
    if (replicas === pool.spec?.replicas) return;
    log.info({ namespace, from: current, to: replicas, ready: reading?.ready }, 'scaling runners');
    scaling.changed.notify(namespace);
  }

  /** Forgets projects that are gone, or whose runners do not follow the backlog any more. */
  function forget(): void {
    for (const namespace of new Set([...demands.keys(), ...scaling.decided.keys()])) {
      const engine = caches.namespaces.get(undefined, namespace)
        ? projectScaling(context, namespace).engine
        : 'Fixed';
      if (engine !== 'Builtin') for (const map of [decisions, scaling.decided]) map.delete(namespace);
      if (engine === 'Fixed' || engine === 'External') demands.delete(namespace);
    }
  }

  return async (projects) => {
    forget();
    const scaled = projects.flatMap(scaledOf);
    const readings = await Promise.all(scaled.map(readProject));
    for (const [index, project] of scaled.entries()) {
      observeProject(project, readings[index]);
      const isDecided = project.engine === 'Builtin' && !isAsleep(context, project.namespace);
      if (isDecided) decide(project, readings[index]);
    }
    showNeeds(scaled, readings);
  };
}
