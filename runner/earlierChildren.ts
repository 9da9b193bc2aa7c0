/** Child runs that an attempt, or the same attempt of an earlier run of the chain, has started before. */
import { StepError } from '../api/reasons.ts';
import { sleep } from '../kube/clock.ts';
import { readRun } from '../runs/read.ts';
import { DEDUPE_KEPT_S } from '../runs/room.ts';
import type { ChildResult } from '../runs/types/result.ts';
import type { RunState } from '../runs/types/run.ts';
import { isUnavailable } from '../store/connection.ts';
import { type ChildStore, findChild, isOfChain } from './childResult.ts';

/** Between two reads of a child that an earlier run of the chain has started. */
const READ_AGAIN_MS = 500;

export type CallDeps = ChildStore & { abandon: AbortSignal };

/**
 * Whether the child was started before, and has only a record left: its dedupe key has expired, so that the
 * run store would accept it again. Runs that are too young for this are not looked up.
 */
export async function hasOnlyRecord(deps: CallDeps, parent: RunState, run: string): Promise<boolean> {
  const isOld = Date.now() - parent.acceptedAt > DEDUPE_KEPT_S * 1_000;
  if (!isOld && parent.origin === undefined) return false;
  for (;;) {
    const state = await readRun(deps.conn, parent.project, run);
    // The run store knows the name, and gives the same run again.
    if (state && !isUnavailable(state)) return false;
    try {
      const record = state ? undefined : await deps.readRecord?.(run);
      if (!state) return record !== undefined && isOfChain(parent, record.spec.parent?.run);
    } catch {
      // The API server does not answer.
    }
    await sleep(READ_AGAIN_MS, deps.abandon);
    if (deps.abandon.aborted) throw new StepError('Cancelled', 'the runner was stopped');
  }
}

/**
 * A child that has the key of the node, once it has ended or if it is of this run. In a resumed run it may be
 * of an earlier run of the chain. Its output is used again; where it has none, the node starts another child.
 * The end of the earlier run has requested its cancel.
 */
export async function readEndedChild(
  deps: CallDeps,
  parent: RunState,
  child: string,
): Promise<{ isOwn: true } | { isOwn: false; result: ChildResult }> {
  for (;;) {
    const found = await findChild(deps, parent, child);
    if (found !== 'unknown') {
      const { owner, result } = found;
      if (owner === parent.run) return { isOwn: true };
      if (result !== 'unfinished') return { isOwn: false, result };
    }
    await sleep(READ_AGAIN_MS, deps.abandon);
    if (deps.abandon.aborted) throw new StepError('Cancelled', 'the runner was stopped');
  }
}
