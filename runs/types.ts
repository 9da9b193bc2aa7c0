/**
 * Types of the life of a run: what programs store and what they get. Outcomes are values. An outage and an
 * empty store are outcomes too (`unavailable`), never exceptions.
 */
import type { BudgetLimit } from '../api/budget.ts';
import type { Testing } from '../api/mock.ts';
import type { NodePhase, RunPhase, TerminalPhase } from '../api/phase.ts';
import type { NodeStatus } from '../api/run.ts';
import type { AgentProgress, Transcript } from '../api/transcript.ts';
import type { NodeOutput } from '../api/value.ts';
import type { Unavailable } from '../store/connection.ts';
import type { RunGroup } from '../store/groups.ts';
import type { ProjectUid } from '../store/keys.ts';

/** Refused: the run, or one of its values, would be larger than it may be. */
export type TooLarge = { outcome: 'too-large'; what: 'value' | 'run'; limitBytes: number };

/** The node that started a child run, and the runs around it. */
export type ParentRef = {
  run: string;
  /** The ID of the node. */
  node: string;
  /** Of the parent. */
  group: RunGroup;
  /** The ancestor without a parent. */
  root: string;
  /** The workflows of all ancestors, that of the root first. */
  path: string[];
  /** The parent waits for the end of the child, and the end of the parent cancels the child. */
  waits: boolean;
  /** The failure of a run started the root. */
  isAfterFailure?: true;
  /** The index of the item for which the node started it, in the innermost loop with `forEach`. */
  item?: number;
};

/** An event that shall start a run. */
export type Submission = {
  project: ProjectUid;
  workflow: string;
  workflowUid: string;
  revision: string;
  /** The name of the WorkflowRun. Left out: a new one. */
  run?: string;
  /** The dedupe key, up to 1,100 characters: the same key gives the same run. */
  dedupeKey?: string;
  /** What started it: a trigger kind, or `execute`. */
  trigger: string;
  /**
   * The trigger's output as JSON text `{"text_content":…,"data_content":…,"headers"?:…}`; kept byte for byte.
   */
  input: string;
  /** A hash of the body as it came: the same key with another body is refused. */
  bodyHash: string;
  test: boolean;
  retryOf?: string;
  /** Of a run that resumes another one. */
  resumed?: Resumed;
  /** Of a test run that goes only as far as this node. */
  until?: string;
  /** Of a test run whose steps differ from those of a live run. */
  testing?: Testing;
  /** The user who asked for the run. */
  requestedBy?: string;
  /** The uid of the object, if somebody created the run as one: it becomes the record. */
  recordUid?: string;
  /** Of a child run. */
  parent?: ParentRef;
};

/** The result of a child run, for the node that started it. `output`: of a run that succeeded. */
export type ChildResult = {
  phase: TerminalPhase;
  reason?: string;
  message?: string;
  output?: NodeOutput;
};

/** The nodes and items that a run keeps of the failed run that it resumes. */
export type Resumed = {
  /** The run whose effect keys the run continues: the resumed one, or the one that it resumed itself. */
  origin: string;
  decisions: readonly Decision[];
  /** The nodes to keep, and those to execute again, with their attempts. */
  nodes: readonly NodeState[];
  /** The items of loops to keep, by key. */
  items: ReadonlyMap<string, NodeState>;
  /** The failed run was in doubt, and so is the run that resumes it. */
  isInDoubt?: true;
};

/** The author's knowledge about a node in phase Unknown. */
export type Decision = {
  node: string;
  outcome: 'AssumeDone' | 'AssumeNotDone';
  /** With AssumeDone: the output that later nodes read. */
  output?: Partial<NodeOutput>;
};

export type Submitted =
  /** Of a repeated event: the reply, or the phase if it is recorded that there was no reply. */
  | { outcome: 'accepted'; run: string; duplicate: boolean; reply?: Reply; ended?: TerminalPhase }
  | { outcome: 'conflict'; run: string }
  | { outcome: 'rejected'; limit: number }
  /** The workflow is suspended: nothing was stored. */
  | { outcome: 'suspended' }
  | Unavailable;

/**
 * Identifies an event: the hash of its dedupe key, and the hash of its body, empty where that is not known.
 */
export type DedupeMark = { hash: string; body: string };

/** The answer of a response node. */
export type Reply = { status: number; headers: Record<string, string>; body: string; contentType: string };

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
  /** Its result is a mock. `parameters`: what would have been sent, at most 8 KiB. */
  mocked?: { parameters?: unknown };
  /** Its output is withheld from whoever reads the run. Never stored. */
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
export type RunUsage = { tokens: number; estimated: number; cost: number; currency: string };

/** A run, as the store holds it. Times are milliseconds since 1970. */
export type RunState = {
  run: string;
  project: ProjectUid;
  workflow: string;
  workflowUid: string;
  /** The group: the live runs, or the test runs, of its workflow. */
  group: RunGroup;
  revision: string;
  trigger: string;
  dedupeKey?: string;
  /** The hash of its dedupe key, or of its name where the submitter chose it. */
  dedupeHash?: string;
  /** The hash of its event's body, where a key was given. */
  bodyHash?: string;
  test: boolean;
  retryOf?: string;
  /** Of a run that resumes another one: the run whose effect keys it continues. */
  origin?: string;
  decisions?: readonly Decision[];
  until?: string;
  testing?: Testing;
  requestedBy?: string;
  recordUid?: string;
  /** Of a child run. */
  parent?: ParentRef;
  /** The uid of the object that the run is recorded in, once it is known. */
  recordedUid?: string;
  /** Its object may exist: the run must be recorded, and its writes are paid for. */
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
  /** Runners that died while they executed the run, since the last progress. */
  crashes: number;
  /** It was restored from its record and not claimed since, or not by the runner that executed it before. */
  restored?: true;
  /**
   * Effects that must not be repeated must not begin: the run was restored and may have advanced after its
   * record, its parent was in doubt when it started the run, or it resumes a run in doubt. The record shows
   * it, so that it survives further losses of the run store.
   */
  doubt?: true;
  /** The hash of the variables that were current when the run was accepted. */
  variables?: string;
  /** The version of its signals; left out where it has none (`signals.ts`). */
  signaled?: string;
  /**
   * What its agents used, as its budget counts it. `estimated`: how many of the tokens are reserved and not
   * settled. `cost`: nano-units.
   */
  usage?: RunUsage;
  /** The trigger's output as JSON text. */
  input: string;
  /** Its record waits until the workflow that its failure starts has been started. */
  isUnreported?: true;
  /** What its failure started. */
  onFailure?: FailureOutcome;
  /** The input is withheld from whoever reads the run. Never stored. */
  inputRedacted?: true;
  /** The input lacks URLs of callbacks, which nobody reads. Never stored. */
  isInputPartial?: true;
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
  /** Two runners died with it: stop claiming, let other runs end, then execute it alone. */
  alone: boolean;
};

/** Identifies a claimed run in every call of its runner. */
export type ClaimRef = {
  project: ProjectUid;
  run: string;
  token: string;
  /** Of a child run. */
  parent?: ParentRef;
  /** The run has no parent, and can have no items, calls, signals, children or memories. */
  isPlain?: boolean;
};

/**
 * `more`: further runs are ready. `short`: runs are ready, and the store has no room for what they would
 * write.
 */
export type Claimed = { outcome: 'claimed'; claims: Claim[]; more: boolean; short: boolean } | Unavailable;

/**
 * `done`: stored; and whether the run shall be cancelled. `fenced`: the claim is another one now, and the
 * runner must drop the run.
 */
export type Fenced =
  /** `signaled`: the run has signals that its runner has not read. */
  { outcome: 'done'; cancelRequested: boolean; signaled?: true } | { outcome: 'fenced' } | Unavailable;

/** The run store was restored: it has an older state of the run than its runner has stored. */
export type Rewound = { outcome: 'rewound' };

/** Refused: another run has seen one of the keys since they were read. */
export type Seen = { outcome: 'seen' };

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

/**
 * An answer of a model, the result of a tool, or the start mark of one (`nodes/agent/transcript.ts`).
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
  /** The version of the signals that the runner has read (`signals.ts`). Left out: none. */
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

/** `output`: what the parent gets of a child run that succeeded. */
export type RunEnd = { phase: TerminalPhase; reason?: string; message?: string; output?: NodeOutput };

/** An entry of a transcript, as records and live events have it. */
export type EntryStatus = NonNullable<NodeStatus['transcript']>['entries'][number];

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
      items?: EventCounts;
      at: number;
    }
  | { id: string; type: 'items'; node: string; items: EventCounts; at: number }
  /**
   * `call`, `delivery`: the request to a model that brought the text, and the claim under which it was made.
   * A text with another pair starts over.
   */
  | {
      id: string;
      type: 'text';
      node: string;
      text: string;
      /** Of an agent with tools: where the transcript will have the answer. */
      position?: number;
      /** Earlier text of the node for this position is void: the request is repeated. */
      reset?: true;
      call?: number;
      delivery?: number;
      at: number;
    }
  | {
      id: string;
      type: 'transcript';
      node: string;
      /** In the transcript, from 0. A later event replaces the entry. */
      position: number;
      entry: EntryStatus;
      /** Earlier entries of the node are void. */
      reset?: true;
      at: number;
    };

/** How far a node with forEach is, in a live event. */
export type EventCounts = Pick<ItemCounts, 'total' | 'succeeded' | 'failed' | 'running'>;

export type RunEventBody = RunEvent extends infer Event
  ? Event extends RunEvent
    ? Omit<Event, 'id' | 'at'>
    : never
  : never;

/** The limits of a workflow, which `claim` and `submit` obey; for live runs and for test runs separately. */
export type WorkflowLimits = {
  workflowUid: string;
  /** `submit` refuses every event, and no run is claimed. */
  suspended?: boolean;
  concurrency?: number;
  policy: 'Queue' | 'Reject' | 'Replace';
  deadlineMs: number;
  /** How many ended runs are recorded: beyond them only summaries are kept. Default 10 each. */
  history?: { succeeded: number; failed: number };
  /** The workflow that a failed live run starts. */
  onFailure?: FailureTarget;
  budget?: BudgetLimits;
};

/** What agents may use: in a run, in a day of the group of runs, and in a day of the project. */
export type BudgetLimits = {
  run?: BudgetLimit | undefined;
  day?: BudgetLimit | undefined;
  project?: BudgetLimit | undefined;
};

/** The workflow that a failure starts. Without `uid` and `revision` it is not in effect. */
export type FailureTarget = { workflow: string; uid?: string; revision?: string };

/** The run that a failure started, or why it started none. */
export type FailureOutcome =
  | { workflow: string; run: string }
  | { workflow: string; reason: string; message: string };

/** The summary of an ended run that has no record. */
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
  /** Claimed by a runner. */
  running: number;
  /** Unfinished and not claimed. */
  waiting: number;
  lastAcceptedAt?: number;
};
