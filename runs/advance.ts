import type { RunStoreConnection } from './connection.ts';
import type { Advance, ClaimRef, Fenced, NodeStart, NodeState, Reply, RunEnd, TooLarge } from './types.ts';

/** Checkpoints, reply, start marks and end in one atomic script, one round trip and one fsync. What runners should use. */
export declare function advance(
  conn: RunStoreConnection,
  ref: ClaimRef,
  step: Advance,
): Promise<Fenced | TooLarge>;

/** The durable mark before a node's effect. */
export declare function startNode(conn: RunStoreConnection, ref: ClaimRef, node: NodeStart): Promise<Fenced>;

/** What finished nodes produced. */
export declare function checkpoint(
  conn: RunStoreConnection,
  ref: ClaimRef,
  nodes: NodeState[],
  options?: { reply?: Reply },
): Promise<Fenced | TooLarge>;

/** Ends the run, once and for all. */
export declare function finish(conn: RunStoreConnection, ref: ClaimRef, end: RunEnd): Promise<Fenced>;
