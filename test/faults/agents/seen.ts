/** What is seen of a scene: on the wire, in the chat, in records and in the run store. */
import type { MemoryTurn } from '../../../api/memory.ts';
import type { Violation, ViolationKind } from '../violation.ts';
import type { ChatMessage } from './model.ts';
import type { Scene } from './points.ts';
import { AGENT } from './workflows.ts';

/** A request that reached the model. `step`: which answer of its message, from 1. */
export type ModelRequest = {
  scene: string;
  step: number;
  key: string;
  /** The model sent the whole answer. */
  isAnswered: boolean;
  messages: readonly ChatMessage[];
};

/** The effect of a tool, or of the node after the agent. */
export type Effect = { scene: string; tool: string; key: string };

/** What a person saw of a message. */
export type ChatSeen = {
  id: string;
  text: string;
  /** How many streams had to be opened. */
  streams: number;
  refusals: number[];
  /** The text of the last stream before its end. */
  shown: string;
  /** The stream said that text before is missing. */
  isPartial: boolean;
  /** Left out: no end came in time. */
  end?: { done: string } | { error: string };
};

/** A run as its record shows it. `tokens`: what is charged to it. */
export type AgentRun = {
  run: string;
  workflow: string;
  phase: string;
  reason?: string;
  message?: string;
  tokens: number;
  retryOf?: string;
};

/** The answer to a retry from the failed node without a decision, and the run with one. */
export type Retried = { withoutDecision: string; run?: string };

/** Tokens. `mostDay`, `mostRun`: the most that was ever seen to be charged, reservations included. */
export type Charges = { day: number; mostDay: number; mostRun: number };

export type SceneEvidence = {
  scene: Scene;
  /** How many of its faults happened at their points. */
  hits: number;
  chats: readonly ChatSeen[];
  /** A further message of the same session, after all faults. */
  again?: ChatSeen;
  runs: readonly AgentRun[];
  requests: readonly ModelRequest[];
  effects: readonly Effect[];
  memories: readonly (readonly MemoryTurn[])[];
  charges: Charges;
  retried?: Retried;
};

export type Tell = (kind: ViolationKind, message: string) => Violation;

/** The runs of the messages, in their order, without retries. */
export function messageRuns({ runs }: Pick<SceneEvidence, 'runs'>): AgentRun[] {
  return runs.filter(({ workflow, retryOf }) => workflow === AGENT && retryOf === undefined);
}
