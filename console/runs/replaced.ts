/** Runs that a newer run replaced, and their nodes. Pure. */
import type { NodeView, RunHead } from '../editor/run/runState.ts';

type Ended = Pick<RunHead, 'reason' | 'message'>;

/** The name of the run that replaced this one; undefined where none did, or the message names none. */
export function replacedBy({ reason, message = '' }: Ended): string | undefined {
  return reason === 'Replaced' ? /^Run (\S+) replaced this run/.exec(message)?.[1] : undefined;
}

/** The node with the reason of its run: a runner that stops a node does not know whether its run was replaced. */
export function withReasonOf({ reason, message }: Ended, node: NodeView): NodeView {
  if (reason !== 'Replaced' || node.phase !== 'Cancelled') return node;
  return { ...node, reason, ...(message !== undefined && { message }) };
}
