/**
 * The life of a run, as types: what programs hand to the run store and what they get back. Outcomes are values; a
 * connection that is down, and a store that is empty, are outcomes too (`unavailable`), never an exception of the client library.
 */
import type { NodePhase, RunPhase, TerminalPhase } from '../api/phase.ts';
import type { NodeOutput } from '../api/value.ts';
import type { RunGroup } from '../store/groups.ts';
import type { Unavailable } from '../store/connection.ts';
import type { ProjectUid } from '../store/keys.ts';

/** The run store refused it: what it holds of the run, or one value of it, would be larger than a run may be. */
export type TooLarge = { outcome: 'too-large'; what: 'value' | 'run'; limitBytes: number };

/** An event that shall start a run. */
export type Submission = {
  project: ProjectUid;
  workflow: string;
  workflowUid: string;
  revision: string;
  /** The name of the WorkflowRun. Left out: a new one. */
  run?: string;
  /** What names the event, up to 1,100 characters: the same key gives the same run. */
  dedupeKey?: string;
  /** What started it: a trigger kind, or `execute`. */
  trigger: string;
  /** The trigger's output as JSON text `{"text_content":…,"data_content":…,"headers"?:…}`; kept byte for byte. */
  input: string;
  /** A hash of the body as it came: the same key with another body is refused. */
  bodyHash: string;
  test: boolean;
  retryOf?: string;
  /** Of a test run that goes only as far as this node. */
  until?: string;
  /** The user who asked for the run. */
  requestedBy?: string;
  /** Of a run that somebody made as an object: its uid, so that the record is that object. */
  recordUid?: string;
};

export type Submitted =
  /** Of a repeated event: the reply, or, where it is recorded that there was none, how the run ended. */
  | { outcome: 'accepted'; run: string; duplicate: boolean; reply?: Reply; ended?: TerminalPhase }
  | { outcome: 'conflict'; run: string }
  | { outcome: 'rejected'; limit: number }
  /** The workflow is suspended: nothing was stored. */
  | { outcome: 'suspended' }
  | Unavailable;

/** Identifies an event: the hash of its dedupe key, and the hash of its body, empty where that is not known. */
export type DedupeMark = { hash: string; body: string };

/** What a response node answers. */
export type Reply = { status: number; headers: Record<string, string>; body: string; contentType: string };

/** One node of a run, as the store holds it. Times are milliseconds since 1970. */
export type NodeState = {
  id: string;
  phase: NodePhase;
  attempts: number;
  startedAt?: number;
  endedAt?: number;
  output?: NodeOutput;
  /** Of the trigger's node: its output is the run's input, and is not stored a second time. */
  outputIsInput?: true;
  reason?: string;
  message?: string;
  usage?: { inputTokens?: number; outputTokens?: number };
  /** Its output is withheld from whoever reads the run. Never stored. */
  redacted?: true;
  /** Of a node that waits: when it is tried again, by the store's clock, which sets it (`Advance.waits`). */
  nextAttemptAt?: number;
  /** A start mark without a checkpoint: a runner began this attempt, and its effect may have happened. */
  mark?: { attempt: number; atMostOnce: boolean };
};

/** What is marked durably before a node's effect. */
export type NodeStart = {
  id: string;
  attempt: number;
  atMostOnce: boolean;
  /** When this attempt starts. */
  at: number;
  /** When the first attempt started; left out on the first. */
  firstAt?: number;
};

/** A run, as the store holds it. Times are milliseconds since 1970. */
export type RunState = {
  run: string;
  project: ProjectUid;
  workflow: string;
  workflowUid: string;
  /** The runs among which it is counted: the live runs, or the test runs, of its workflow. */
  group: RunGroup;
  revision: string;
  trigger: string;
  dedupeKey?: string;
  /** The hash of what dedupes it: the key, or the run's own name where the submitter chose it. */
  dedupeHash?: string;
  /** The hash of its event's body, where a key was given. */
  bodyHash?: string;
  test: boolean;
  retryOf?: string;
  until?: string;
  requestedBy?: string;
  recordUid?: string;
  /** The uid of the object that the run is recorded in, once it is known. */
  recordedUid?: string;
  /** Somebody may have made its object: it must be recorded, and its writes are paid for. */
  createBegun?: true;
  phase: RunPhase;
  epoch: number;
  sequence: number;
  acceptedAt: number;
  startedAt?: number;
  endedAt?: number;
  reason?: string;
  message?: string;
  cancelRequested: boolean;
  /** How often a runner died while it held the run, since the last progress. */
  crashes: number;
  /** It was put back from its record and not claimed since, or not by the runner that held it before. */
  restored?: true;
  /** It was put back from its record and may have gone on after that: what must not be repeated must not begin. */
  doubt?: true;
  /** The trigger's output as JSON text. */
  input: string;
  /** The input is withheld from whoever reads the run. Never stored. */
  inputRedacted?: true;
  nodes: NodeState[];
  reply?: Reply;
};

/** A run that a runner holds, with the token that every further call must show. */
export type Claim = {
  token: string;
  state: RunState;
  /** What is left of the run's timeout, by the store's clock; 0 when it has passed. */
  remainingMs: number;
  /** The store's clock at the claim, in milliseconds since 1970. */
  claimedAt: number;
  /** Two runners died with it: stop claiming, let what else runs end, then execute it with nothing beside it. */
  alone: boolean;
};

/** What a runner names in every call about a run that it holds. */
export type ClaimRef = { project: ProjectUid; run: string; token: string };

/**
 * `more`: there were further runs that are ready, for the next claim. `short`: runs are ready, and the store has no room for what they
 * would write.
 */
export type Claimed = { outcome: 'claimed'; claims: Claim[]; more: boolean; short: boolean } | Unavailable;

/**
 * The store did it, and says whether somebody asked to cancel the run; or the claim is another's by now, and the
 * runner must drop the run without a word.
 */
export type Fenced = { outcome: 'done'; cancelRequested: boolean } | { outcome: 'fenced' } | Unavailable;

/** The run store was put back: it holds an older state of the run than its runner has stored. */
export type Rewound = { outcome: 'rewound' };

/** One step forward, stored as a whole or not at all: in this order checkpoints, reply, start marks, end or park. */
export type Advance = {
  checkpoints?: NodeState[];
  /** The first that is stored is the run's. */
  reply?: Reply;
  starts?: NodeStart[];
  /** For each node that begins to wait: after how many milliseconds it is tried again. */
  waits?: { id: string; delayMs: number }[];
  end?: RunEnd;
  /**
   * Gives the claim and the workflow's slot up: the run is ready again after so many milliseconds. A run that shall be
   * cancelled is not parked: it stays with its runner, who is told so.
   */
  parkMs?: number;
  /**
   * The sequence of the run that it follows (the claim's, and one more for each step since). What was stored already is not
   * stored again, be it that its answer was lost, or that the network held it up until the run had gone on. A run that is
   * behind it is `rewound`.
   */
  follows?: number;
  /** It has all that its runner knows of the run, so that it can also follow an older state. */
  whole?: true;
};

export type RunEnd = { phase: TerminalPhase; reason?: string; message?: string };

/** A live event of a run. `id` counts from 1; a reader that names the last one it saw gets those after it. */
export type RunEvent =
  | { id: string; type: 'run'; phase: RunPhase; reason?: string; message?: string; at: number }
  | {
      id: string;
      type: 'node';
      node: string;
      phase: NodePhase;
      attempt: number;
      reason?: string;
      message?: string;
      at: number;
    }
  | { id: string; type: 'text'; node: string; text: string; at: number };

export type RunEventBody = RunEvent extends infer Event
  ? Event extends RunEvent
    ? Omit<Event, 'id' | 'at'>
    : never
  : never;

/** What the operator sets per workflow, and what `claim` and `submit` obey; for live runs and for test runs, each by themselves. */
export type WorkflowLimits = {
  workflowUid: string;
  /** `submit` refuses every event, and no run is claimed. */
  suspended?: boolean;
  concurrency?: number;
  policy: 'Queue' | 'Reject' | 'Replace';
  deadlineMs: number;
  /** How many ended runs are of interest: beyond them what could not be recorded is kept as a line. Default 10 each. */
  history?: { succeeded: number; failed: number };
};

/** A line about an ended run that has no object, or whose object is pruned. */
export type RunSummary = {
  run: string;
  workflow: string;
  phase: TerminalPhase;
  trigger: string;
  test: boolean;
  requestedBy?: string;
  acceptedAt: number;
  startedAt?: number;
  endedAt: number;
  reason?: string;
  message?: string;
};

export type Counts = {
  succeeded: number;
  failed: number;
  cancelled: number;
  /** Not ended: running and waiting. */
  active: number;
  /** Held by a runner. */
  running: number;
  /** Neither ended nor held by a runner. */
  waiting: number;
  lastAcceptedAt?: number;
};
