/** Takes back test runs that listen for an event. */
import type { WorkflowRun } from '../../api/kinds.ts';
import { isListening, takeListening } from '../../runs/listening.ts';
import { isUnavailable } from '../../store/connection.ts';
import { projectOf } from '../shared/caches.ts';
import type { OperatorContext } from '../shared/context.ts';
import { unreachable } from '../shared/errors.ts';

export type TakeBackContext = Pick<OperatorContext, 'caches' | 'conn' | 'clock'> & {
  /** `missedAt`, by uid: when a run was first found taken. */
  runs: { missedAt: Map<string, number> };
};

/** A gateway that took a run submits it within this time, in milliseconds, or was killed. */
const TAKEN_PATIENCE_MS = 10_000;

/**
 * Takes a run back that listens, so that no event starts it any more. False while an event may have taken it
 * and not started it yet.
 */
export async function takeBack(
  { caches, conn, clock, runs }: TakeBackContext,
  { metadata: { namespace = '', uid = '' }, spec }: WorkflowRun,
): Promise<boolean> {
  const project = projectOf(caches, namespace);
  if (spec.listenFor === undefined || project === undefined) return true;
  if (!caches.testRoutes.get(namespace, uid)) return true;
  const taken = await takeListening(conn, project, uid);
  if (isUnavailable(taken)) throw unreachable(taken);
  return taken.taken !== undefined || isMissed({ clock, runs }, uid);
}

/** Whether nobody has submitted the run with this uid in time. Call it each time it is found taken. */
function isMissed({ clock, runs }: Pick<TakeBackContext, 'clock' | 'runs'>, uid: string): boolean {
  const missedAt = runs.missedAt.get(uid) ?? clock.now();
  runs.missedAt.set(uid, missedAt);
  return clock.now() - missedAt >= TAKEN_PATIENCE_MS;
}

/**
 * Whether no event can start a run any more that should listen: the run store lost its data, or whoever took
 * the run was killed before it submitted it. The run must not be submitted.
 */
export async function isLost(
  { caches, conn, clock, runs }: TakeBackContext,
  { metadata: { namespace = '', uid = '' } }: WorkflowRun,
): Promise<boolean> {
  const project = projectOf(caches, namespace);
  if (project === undefined) return false;
  const listens = await isListening(conn, project, uid);
  if (isUnavailable(listens)) throw unreachable(listens);
  if (!listens) return isMissed({ clock, runs }, uid);
  runs.missedAt.delete(uid);
  return false;
}
