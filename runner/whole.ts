/**
 * All that a runner knows of a run, as one step: for a run store that was put back to an older state. Pure.
 */
import type { Advance, NodeStart, NodeState } from '../runs/types.ts';

type Known = { checkpoint: NodeState } | { start: NodeStart };

/**
 * `next`, with everything that came before it: the nodes that the run was claimed with, then the steps that
 * were stored, in order. Of each node only the last state counts; one that runs keeps its mark. `waits`: of
 * the nodes that wait now.
 */
export function wholeStep(
  claimed: readonly NodeState[],
  stored: readonly Advance[],
  next: Advance,
  waits: NonNullable<Advance['waits']>,
): Advance {
  const steps = [...stored, next];
  const known = new Map(claimed.map((node) => [node.id, knownOf(node)]));
  for (const { checkpoints = [], starts = [] } of steps) {
    for (const checkpoint of checkpoints) known.set(checkpoint.id, { checkpoint });
    for (const start of starts) known.set(start.id, { start });
  }
  const reply = steps.find((step) => step.reply)?.reply;
  const nodes = [...known.values()];
  const waiting = waits.filter(({ id }) => isWaiting(known.get(id)));
  return {
    ...next,
    checkpoints: nodes.flatMap((node) => ('checkpoint' in node ? [node.checkpoint] : [])),
    starts: nodes.flatMap((node) => ('start' in node ? [node.start] : [])),
    waits: waiting.map(({ id, delayMs }) => ({ id, delayMs: Math.max(0, delayMs) })),
    ...(reply && { reply }),
    whole: true,
  };
}

function knownOf(node: NodeState): Known {
  const { id, mark, startedAt } = node;
  if (!mark) return { checkpoint: node };
  const times = startedAt === undefined ? { at: 0 } : { at: startedAt, firstAt: startedAt };
  return { start: { id, ...mark, ...times } };
}

function isWaiting(known: Known | undefined): boolean {
  return known !== undefined && 'checkpoint' in known && known.checkpoint.phase === 'Waiting';
}
