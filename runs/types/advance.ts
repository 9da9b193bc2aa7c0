/** A step of a run: what `advance` stores, and why it refuses to. */
import type { AgentMark, NodeStart, NodeState } from './node.ts';
import type { Reply, RunEnd } from './result.ts';

/**
 * One step forward, stored as a whole or not at all: in this order checkpoints, reply, start marks, end or
 * park.
 */
export type Advance = {
  checkpoints?: NodeState[];
  /** The first one is the run's. */
  reply?: Reply;
  starts?: NodeStart[];
  /** Keys of items and their nodes that are no longer needed, because an item around them has ended. */
  dropped?: string[];
  /** Calls of agents, by key. */
  calls?: readonly AgentCall[];
  /** How far the agents of these calls are. */
  agents?: readonly AgentMark[];
  /** Keys of calls that are no longer needed, because their agent has ended. */
  droppedCalls?: string[];
  /** The memories of agents that have ended. */
  memories?: readonly MemoryEnd[];
  /** Bytes that results of tools in progress may take: outputs, replies and answers leave them free. */
  reservedBytes?: number;
  /** Fields of signals that the step takes up: they are removed. */
  consumed?: string[];
  /** For each node that begins to wait: after how many milliseconds it is tried again. */
  waits?: { id: string; delayMs: number }[];
  end?: RunEnd;
  /** Refuses the step as `seen` if another run has seen one of the keys. Never together with an end. */
  remember?: readonly Remembered[];
  /**
   * Parks the run: gives up claim and slot until so many milliseconds have passed. A run to cancel is not
   * parked, and neither is one with unread signals: it stays with its runner, which is told so.
   */
  parkMs?: number;
  /** The version of the signals that the runner has read (`runs/signals.ts`). Left out: none. */
  signalsRead?: string;
  /** With `whole`: effects may have happened of which the runner does not know, so that the doubt remains. */
  isInDoubt?: boolean;
  /**
   * The sequence of the run that the step follows (the claim's, and one more for each step since). A step
   * that was stored before is not stored again, whether its answer was lost or the network delayed it. A run
   * that is behind is `rewound`.
   */
  follows?: number;
  /** The step has all that its runner knows of the run, so that it can also follow an older state. */
  whole?: true;
};

/**
 * An answer of a model, the result of a tool, or the start mark of one (`nodes/agent/rounds.ts`).
 * `isAnswer`: the run store refuses it as `too-large` where the run has no room for it and for the results of
 * its tools; it never refuses a result.
 */
export type AgentCall = { key: string; value: string; isAnswer: boolean };

/**
 * Names the memory of agents in the run store. Test runs of the workflow have another one of the same name.
 */
export type MemorySpace = {
  /** The ID of the node, or the name that several nodes share. */
  name: string;
  /** Whose memory it is. */
  key: string;
};

/**
 * The end of an agent with a memory, which it releases. `remembered`: the turn to store, if the run owns the
 * memory and was accepted after the last deletion of it. `space`: where there is none, and left out if it is
 * not known.
 */
export type MemoryEnd = {
  /** The located key of the node. */
  node: string;
  space?: MemorySpace;
  remembered?: MemorySpace & { turn: string; ttlMs: number };
};

/** What a node remembers of its items for later runs. */
export type Remembered = {
  node: string;
  /** One text for each item. */
  keys: readonly string[];
  ttlMs: number;
  /** How many keys of the node are kept: beyond it those that expire first go. */
  limit: number;
  /** The run that this run repeats: what it has seen is new for this one. */
  retryOf?: string | undefined;
};

/** Refused: another run has seen one of the keys since they were read. */
export type Seen = { outcome: 'seen' };

/** Refused: the run, or one of its values, would be larger than it may be. */
export type TooLarge = { outcome: 'too-large'; what: 'value' | 'run'; limitBytes: number };
