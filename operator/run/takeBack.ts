/** Takes back test runs that listen for an event, and finds those that nobody offers any more. */
import type { WorkflowRun } from '../../api/kinds.ts';
import { isListening, takeListening } from '../../runs/listening.ts';
import { isUnavailable } from '../../store/connection.ts';
import { projectOf, testRouteOf } from '../shared/caches.ts';
import type { OperatorContext } from '../shared/context.ts';
import { unreachable } from '../shared/errors.ts';

export type TakeBackContext = Pick<OperatorContext, 'caches' | 'conn' | 'clock'> & {
  /** `missingSince`, by uid: since when a run is neither on offer nor submitted. */
  runs: { missingSince: Map<string, number> };
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
  if (testRouteOf(caches, namespace, uid) === undefined) return true;
  const taken = await takeListening(conn, project, uid);
  if (isUnavailable(taken)) throw unreachable(taken);
  return taken.taken !== undefined || isMissingTooLong({ clock, runs }, uid);
}

/** Whether nobody has submitted the run with this uid in time. Call it each time that it is not on offer. */
function isMissingTooLong({ clock, runs }: Pick<TakeBackContext, 'clock' | 'runs'>, uid: string): boolean {
  const missingSince = runs.missingSince.get(uid) ?? clock.now();
  runs.missingSince.set(uid, missingSince);
  return clock.now() - missingSince >= TAKEN_PATIENCE_MS;
}

/**
 * Whether no event can start a run any more that should listen: the run store lost its data, or whoever took
 * the run was killed before it submitted it. Call it only for a run that is not submitted (`isAccepted`).
 */
export async function isLost(
  { caches, conn, clock, runs }: TakeBackContext,
  { metadata: { namespace = '', uid = '' } }: WorkflowRun,
): Promise<boolean> {
  const project = projectOf(caches, namespace);
  if (project === undefined) return false;
  const listens = await isListening(conn, project, uid);
  if (isUnavailable(listens)) throw unreachable(listens);
  if (!listens) return isMissingTooLong({ clock, runs }, uid);
  runs.missingSince.delete(uid);
  return false;
}
