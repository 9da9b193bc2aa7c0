/** Nodes of a run, as the run store holds them. */
import type { Found } from '../../api/expression/found.ts';
import type { NodePhase } from '../../api/phase.ts';
import type { AgentProgress, Transcript } from '../../api/transcript.ts';
import type { NodeOutput } from '../../api/value.ts';

/** One node of a run, as the store holds it. Times are milliseconds since 1970. */
export type NodeState = {
  id: string;
  phase: NodePhase;
  attempts: number;
  startedAt?: number;
  endedAt?: number;
  output?: NodeOutput;
  /** Of the trigger's node: its output is the run's input, which is stored once. */
  outputIsInput?: true;
  reason?: string;
  message?: string;
  /** `cost`: a decimal text. */
  usage?: { inputTokens?: number; outputTokens?: number; cost?: string; currency?: string };
  /** The log of its code, at most 16 KiB. */
  log?: string;
  /** Of an agent with tools: its answers and tool calls so far. */
  agent?: AgentProgress['agent'];
  /** Of an agent with tools that has ended: at most 32 KiB. */
  transcript?: Transcript;
  /** What the step sent: at most 8 KiB, with secrets masked. */
  sent?: SentParameters;
  /** What the reference found because of which the node failed. */
  missing?: Found;
  /** Its result is a mock. `parameters`: what would have been sent, at most 8 KiB. */
  mocked?: { parameters?: unknown };
  /** Its output is withheld from readers of the run. Never stored. */
  redacted?: true;
  /** Of a node that is executed for each item: how far it is. */
  items?: ItemCounts;
  /** Of a node of a body: the item whose execution this is. */
  item?: number;
  /** Of a workflow node: the name of its child run. */
  run?: string;
  /** It has no live event. Never stored. */
  isSilent?: true;
  /** Its live event has the counts of its items and no phase. Never stored. */
  isProgress?: true;
  /** Of an item: which execution of `repeat` is next, from 0, and the outputs of those before. */
  repeat?: number;
  collected?: unknown[];
  /**
   * Of a waiting node: when it is tried again, by the project's clock (`Advance.waits`). Of an item in
   * progress: when the timeout of its execution has passed.
   */
  nextAttemptAt?: number;
  /**
   * What a waiting node waits for; left out: its next attempt. `time`: the end of its wait. `callback`: a
   * call before the end of its wait. `memory`: the memory of its agent, which another run uses.
   */
  waitingFor?: { time?: true; callback?: true; memory?: true };
  /**
   * A start mark without a checkpoint: a runner began this attempt, and its effect may have happened.
   * `continues`: an agent, whose stored calls say what may be repeated.
   */
  mark?: { attempt: number; atMostOnce: boolean; crashes?: number; continues?: true };
};

/** The evaluated parameters or fields of a step. `truncated`: cut to the limit. */
export type SentParameters = { parameters?: unknown; truncated?: true };

/** How far a node with forEach is. */
export type ItemCounts = {
  total: number;
  succeeded: number;
  failed: number;
  running: number;
  /** The first failures. */
  failures: { index: number; reason: string; message: string }[];
  /**
   * A bit for each item that has ended, in base64: item 0 is the lowest bit of the first byte. A record may
   * lack it.
   */
  ended?: string;
  /** Where the items depend on variables: a hash of them. A restored run may have other variables. */
  hash?: string;
};

/** The mark that is stored before a node's effect. */
export type NodeStart = {
  id: string;
  attempt: number;
  atMostOnce: boolean;
  /** When this attempt starts. */
  at: number;
  /** When the first attempt started; left out on the first. */
  firstAt?: number;
  /** How many runners died during the attempt. */
  crashes?: number;
  /** It is an agent with tools: another runner continues with its stored calls. */
  continues?: true;
  /** It has no live event. */
  isSilent?: true;
};

/** The mark of an agent in progress again, with how far it is. */
export type AgentMark = NodeStart & Pick<NodeState, 'agent' | 'usage'>;
