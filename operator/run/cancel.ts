/** Cancels runs whose object says so, or was deleted. */
import type { WorkflowRun } from '../../api/kinds.ts';
import { after, done, type Action } from '../../kube/controller.ts';
import { isTerminal } from '../../api/phase.ts';
import { cancelRun } from '../../runs/cancel.ts';
import { isUnavailable } from '../../store/connection.ts';
import { readBrief } from '../../runs/read.ts';
import { recordCancel } from './audit.ts';
import type { OperatorContext } from '../shared/context.ts';
import { workflowRuns } from '../shared/resources.ts';
import { isNew } from './decide.ts';
import { endRun } from './end.ts';
import { takeBack } from './takeBack.ts';
import { projectOf } from '../shared/caches.ts';
import type { ProjectStore } from '../store/types.ts';
import { unreachable } from '../shared/errors.ts';

/** What the operator remembers of runs between reconciles. */
export type RunState = {
  /** By uid: when a run that waits for its workflow was first seen. */
  seenAt: Map<string, number>;
  /** By key: runs that were deleted before their end. */
  deleted: Map<string, WorkflowRun>;
  /** The uids of runs whose cancellation is in the audit trail. */
  cancelled: Set<string>;
  /** By uid: when a run that listens for an event was first found taken. */
  missingSince: Map<string, number>;
};

export function createRunState(): RunState {
  return { seenAt: new Map(), deleted: new Map(), cancelled: new Set(), missingSince: new Map() };
}

type CancelContext = OperatorContext & {
  store: Pick<ProjectStore, 'open'>;
  runs: Pick<RunState, 'cancelled' | 'missingSince'>;
};

/** While an event may have taken the run and not started it yet. */
const TAKEN_MS = 1_000;

export async function cancel(context: CancelContext, run: WorkflowRun): Promise<Action> {
  const project = projectOf(context.caches, run.metadata.namespace);
  if (project === undefined) return done();
  const isTakenBack = !isNew(run) || (await takeBack(context, run));
  // A store that lost its data is seeded first, unless the run was never submitted.
  const opened = isNew(run) ? undefined : await context.store.open(project);
  if (opened?.outcome === 'unavailable') throw unreachable(opened);
  const cancelled = await cancelRun(context.conn, project, run.metadata.name);
  if (cancelled.outcome === 'unavailable') throw unreachable(cancelled);
  if (cancelled.outcome === 'absent' && !isTakenBack) return after(TAKEN_MS);
  if (cancelled.outcome === 'absent') await endCancelled(context, run);
  const { uid = '' } = run.metadata;
  // A run is reconciled until it has ended, and its cancellation is recorded once.
  if (cancelled.outcome !== 'ended' && !context.runs.cancelled.has(uid)) recordCancel(context, run);
  context.runs.cancelled.add(uid);
  return done();
}

/** Cancels the run of a deleted object, unless another run has its name now. */
export async function cancelDeleted(
  context: OperatorContext & Pick<CancelContext, 'runs'>,
  run: WorkflowRun,
): Promise<void> {
  const { conn, caches } = context;
  const { name, namespace = '', uid } = run.metadata;
  const project = projectOf(caches, namespace);
  if (project === undefined) return;
  if (run.spec.listenFor !== undefined) await takeBack(context, run);
  const state = await readBrief(conn, project, name);
  if (isUnavailable(state)) throw unreachable(state);
  if (!state || (state.recordUid !== uid && state.recordedUid !== uid)) return;
  const cancelled = await cancelRun(conn, project, name);
  if (cancelled.outcome === 'unavailable') throw unreachable(cancelled);
  if (cancelled.outcome === 'cancelled' || cancelled.outcome === 'requested')
    recordCancel(context, run, 'deleted');
}

/** The run store does not know the run: it was never submitted, is lost, or has ended and is recorded. */
async function endCancelled(context: OperatorContext, { metadata }: WorkflowRun): Promise<void> {
  const { name, namespace = '', uid } = metadata;
  const run = await context.client.find(workflowRuns, { namespace, name });
  if (!run || run.metadata.uid !== uid || isTerminal(run.status?.phase)) return;
  const message = isNew(run)
    ? 'The run was cancelled before it began.'
    : 'The run was cancelled. The run store no longer had it.';
  await endRun(context, run, { phase: 'Cancelled', reason: 'Cancelled', message });
}
