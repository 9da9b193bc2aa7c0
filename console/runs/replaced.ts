/** Runs that newer runs replaced, and their nodes. Pure. */
import type { NodeView, RunHead } from './live/nodeView.ts';

type Ended = Pick<RunHead, 'reason' | 'message'>;

/** The run that replaced this one; undefined if none did, or if the message does not name it. */
export function replacedBy({ reason, message = '' }: Ended): string | undefined {
  return reason === 'Replaced' ? /^Run (\S+) replaced this run/.exec(message)?.[1] : undefined;
}

/** The node with the reason of its run: the runner that cancels it does not know why the run ended. */
export function withReasonOf({ reason, message }: Ended, node: NodeView): NodeView {
  if (reason !== 'Replaced' || node.phase !== 'Cancelled') return node;
  return { ...node, reason, ...(message !== undefined && { message }) };
}
