/** What the record of a run shows of a loop in progress: its counts, and the nodes of one execution. */
import { DISABLED } from '../api/disabled.ts';
import type { NodeOutput } from '../api/value.ts';
import type { ItemCounts, NodeState } from '../runs/types/node.ts';
import { addCheckpoint } from './changes.ts';
import {
  type ExecutionState,
  isEnded,
  isInItem,
  type Iteration,
  type Loop,
  type Pass,
  type ScopeEnd,
  type ScopeState,
} from './executionState.ts';
import { sentOf } from './sent.ts';

/** How often the counts of a loop in progress are stored. */
export const REPORT_MS = 250;

/** A larger output of a node of a body is not shown in the record. */
const SAMPLE_BYTES = 16 * 1024;

/** At most one live event per `REPORT_MS`. */
export function eventOfProgress(loop: Loop): Pick<NodeState, 'isProgress' | 'isSilent'> {
  const now = performance.now();
  if (now - loop.reportedAt < REPORT_MS) return { isSilent: true };
  loop.reportedAt = now;
  return { isProgress: true };
}

/** Stores the counts of a loop in progress. */
export function reportLoop({ state, now }: Pick<Pass, 'state' | 'now'>, loop: Loop): void {
  loop.hasNews = false;
  if (!loop.items || isInItem(loop.scope)) return;
  const { scope, id } = loop;
  const { firstAt = now } = scope.progress.get(id) ?? {};
  addSample(state, loop);
  const counts = { ...countsOf(loop), ...sentOfLoop(state, loop), ...eventOfProgress(loop) };
  addCheckpoint(state, scope, { id, phase: 'Running', attempts: 1, startedAt: firstAt, ...counts });
}

/** Stores the counts of loops that have changed, so that the record of a parked run has them. */
export function reportLoops(state: ExecutionState, now: number): void {
  for (const loop of state.root.loops.values()) if (loop.hasNews) reportLoop({ state, now }, loop);
}

/** How far the loop is, for a checkpoint. */
export function countsOf(loop: Loop): { items?: ItemCounts } {
  const { items, itemsHash, total, succeeded, failed, active, failures, ended } = loop;
  if (!items) return {};
  const bits = Buffer.from(ended).toString('base64');
  const hash = itemsHash === undefined ? {} : { hash: itemsHash };
  const counts = { total, succeeded, failed, running: active.size };
  return { items: { ...counts, failures: [...failures], ended: bits, ...hash } };
}

/** Notes an ended execution as the sample of the loop: the first that failed, or else the last. */
export function noteSample(
  state: ExecutionState,
  { loop, index }: Iteration,
  scope: ScopeState,
  end: ScopeEnd,
): void {
  if (loop.sample ? loop.sample.hasFailed : isFailureRecorded(state, loop, scope)) return;
  loop.sample = { index, scope, hasFailed: end.kind === 'failed' };
}

/** Whether the record has an item that failed before this runner took the run over. */
function isFailureRecorded({ claim }: ExecutionState, { failures }: Loop, { graph }: ScopeState): boolean {
  if (failures.length === 0) return false;
  const body = new Set(graph.nodes.map(({ id }) => id));
  const recorded = claim.state.nodes.find(({ id, item }) => item !== undefined && body.has(id))?.item;
  return failures.some(({ index }) => index === recorded);
}

/** Stores the nodes of one execution, for the record. */
export function addSample(state: ExecutionState, loop: Loop): void {
  const { sample, items } = loop;
  if (!sample || isInItem(loop.scope)) return;
  const { scope, index } = sample;
  for (const { id, trigger } of scope.graph.nodes) {
    const phase = scope.phases.get(id);
    if (trigger || id === loop.id || !isEnded(phase) || phase === undefined) continue;
    const { tried = 1, firstAt } = scope.progress.get(id) ?? {};
    state.checkpoints.push({
      id,
      phase,
      attempts: tried,
      ...(phase === 'Skipped' && scope.graph.disabled.has(id) && { reason: DISABLED }),
      ...(firstAt !== undefined && { startedAt: firstAt }),
      ...(items && { item: index }),
      ...shownOutput(scope.outputs.get(id)),
      ...sentIn(state, scope, id),
      isSilent: true,
    });
  }
}

type Sent = Pick<NodeState, 'sent' | 'missing' | 'mocked'>;

/** What the execution of the sample sent, or would have sent without its mock, for a loop of one node. */
export function sentOfLoop(state: ExecutionState, loop: Loop): Sent {
  const { sample, id, items } = loop;
  return sample && items && !isInItem(loop.scope) ? sentIn(state, sample.scope, id) : {};
}

function sentIn(state: ExecutionState, scope: ScopeState, id: string): Sent {
  const sent = sentOf(state, scope, id);
  const { missing, mocked } = scope.progress.get(id) ?? {};
  return { ...(sent && { sent }), ...(missing && { missing }), ...(mocked && { mocked }) };
}

/** What the record shows of an output: its error, or the output itself if it is small. */
function shownOutput(
  output: (NodeOutput & { error?: unknown }) | undefined,
): Pick<NodeState, 'output' | 'reason' | 'message'> {
  const error = output?.error as { reason?: string; message?: string } | undefined;
  if (error) return { reason: error.reason ?? 'Internal', message: error.message ?? '' };
  return output && JSON.stringify(output).length <= SAMPLE_BYTES ? { output } : {};
}
