/**
 * The in-memory state of a run in flight: the scopes of the run, the state of their nodes, and the changes to
 * store next. Synchronous, without input or output. `transitions.ts` changes nodes, `waits.ts` begins and
 * ends waits, `changes.ts` collects the changes to store. Changes take effect for others when the run store
 * has stored them.
 *
 * A scope is the run itself, or one execution of a node with forEach, repeat or a body (`loop.ts`). A node is
 * named by its key: its ID in the scope of the run, otherwise `<path of the scope>/<ID>`.
 */
import type { Found } from '../api/expression/found.ts';
import type { NodeOutput, Scope } from '../api/expression/scope.ts';
import type { Graph, GraphEdge } from '../api/graph.ts';
import type { NodePhase } from '../api/phase.ts';
import type { TranscriptEntry } from '../api/transcript.ts';
import type { ModelUsage } from '../nodes/contract/modelUsage.ts';
import type { StepFields } from '../nodes/step.ts';
import type { Advance } from '../runs/types/advance.ts';
import type { Claim } from '../runs/types/claim.ts';
import type { NodeStart, NodeState, SentParameters } from '../runs/types/node.ts';
import type { Reply, RunEnd } from '../runs/types/result.ts';
import type { VariableValues } from '../runs/variables.ts';
import type { CallbackSettings } from '../store/callbacks.ts';
import { AgentCalls } from './agentCalls.ts';
import { AgentMemories } from './agentMemories.ts';
import { type AttemptShare, UNLIMITED } from './attemptLimit.ts';
import type { FailedEnd, ScopeFailure } from './failure.ts';
import type { LoadedSecrets } from './loadedSecrets.ts';
import type { Plan, PlannedLoop } from './plan.ts';

/**
 * A started node: the number of started attempts, the number of the next attempt, how the last one failed,
 * and whether the wait of a wait node is over.
 */
export type Progress = {
  tried: number;
  next: number;
  firstAt?: number;
  fields?: StepFields;
  lastEnd?: FailedEnd;
  hasWaited?: boolean;
  /** How many runners died during the next attempt. */
  crashes?: number;
  /** The child run of the last attempt. */
  run?: string;
  /** An agent that waits for child runs of its tool calls, and for nothing else. */
  awaitsChildren?: true;
  /** Of an agent that another runner had wait for its memory: the rest of its wait. */
  memoryWaitMs?: number;
  /** Its result is a mock. */
  mocked?: NodeState['mocked'];
  /** What it sent. Of a node in an item only once the record shows the item. */
  sent?: SentParameters;
  /** What the reference found because of which it failed. */
  missing?: Found;
  /** Of an agent with tools: the messages, answers and tool calls so far. */
  transcript?: readonly TranscriptEntry[];
  /** Of an agent: what providers counted of its requests in this runner. */
  usage?: ModelUsage;
};

/** An owner of keys in the run store. Checkpoints of an owner that is over are not stored. */
type KeyOwner = { isOver: boolean; readonly storedKeys: Set<string> };

export type ScopeState = KeyOwner & {
  /** Empty for the scope of the run. */
  readonly path: string;
  readonly graph: Graph;
  readonly parent?: ScopeState;
  /** The execution that the scope belongs to; undefined for the scope of the run. */
  readonly iteration?: Iteration;
  /** The phases of started and ended nodes. A node without one is pending. */
  readonly phases: Map<string, NodePhase>;
  readonly outputs: Map<string, NodeOutput>;
  readonly progress: Map<string, Progress>;
  /** The results of evaluated conditions. */
  readonly conditionResults: Map<GraphEdge, boolean>;
  /** The nodes of the scope that are executed for items, again, or as a group. */
  readonly loops: Map<string, Loop>;
  /** Set once: no node of the scope starts any more, and the scope ends like this when no node runs. */
  failure?: ScopeFailure;
  /** A child run of a node in it ended with an effect in doubt: no group around it is executed again. */
  hasDoubt?: boolean;
  /** Whether a node has changed since the last scheduling pass over the scope. */
  hasChanged: boolean;
};

/**
 * A node in progress that is executed for items, again, or as a group. Without forEach it has one item
 * without a value.
 */
export type Loop = KeyOwner & {
  readonly scope: ScopeState;
  readonly id: string;
  readonly key: string;
  readonly plan: PlannedLoop;
  readonly items: readonly unknown[] | undefined;
  readonly total: number;
  /** Of items of the scope of the run that depend on variables: which items they are. */
  readonly itemsHash?: string;
  /** The next item that may start. */
  next: number;
  readonly active: Map<number, Iteration>;
  /** A bit for each ended item. */
  readonly ended: Uint8Array;
  succeeded: number;
  failed: number;
  readonly failures: { index: number; reason: string; message: string }[];
  /** The results by index, and the bytes of them as JSON. */
  readonly results: unknown[];
  resultBytes: number;
  /** The results exceed the limit of an output: they are no longer collected, and the node fails. */
  isTooLarge: boolean;
  /** Set once: no item starts any more. */
  failure?: FailedEnd;
  /** When the next item may start, on the monotonic clock of this process. */
  startsAt: number;
  /** When the counts were last stored, and whether they have changed since. */
  reportedAt: number;
  hasNews: boolean;
  /** An execution of its body was lost with the run store: no `AtMostOnce` effect begins. */
  isInDoubt: boolean;
  /** An ended execution whose nodes the record shows: the first that failed, or the last. */
  sample?: { index: number; scope: ScopeState; hasFailed: boolean };
};

/** One item in progress. Between two executions it has no scope. */
export type Iteration = {
  readonly loop: Loop;
  readonly index: number;
  readonly item: unknown;
  /** From 0. */
  repeat: number;
  /** From 1. */
  attempt: number;
  previous: unknown;
  /**
   * The results of its executions, and the bytes of them as JSON. Without any beyond the limit of an output.
   */
  readonly collected: unknown[];
  collectedBytes: number;
  scope?: ScopeState;
  lastEnd?: FailedEnd;
  /** The rest of the timeout of the current execution, if another runner began it. */
  leftMs?: number;
};

/** The stored items of a loop by index, and the nodes of each by the path of the execution. */
export type LoopItems = {
  states: Map<number, NodeState>;
  nodes: Map<number, Map<string, NodeState[]>>;
};

/**
 * A point in time at which something of the run continues, on the monotonic clock of this process.
 * `storedAs`: the key with which the run store has the time, where it is another one.
 */
type Timer = { dueAt: number; fire: () => void; isStored: boolean; storedAs?: string };

/**
 * The signals of the run as they were last read. `awaiting`: keys of nodes that wait for one. `due`: those
 * whose time has passed: before they fail, the run store must refuse further signals.
 */
type SignalState = {
  version: string;
  readonly values: Map<string, unknown>;
  readonly awaiting: Set<string>;
  due: string[];
};

export type ExecutionState = {
  readonly claim: Claim;
  readonly plan: Plan;
  readonly namespace: string;
  /** What expressions read of the run; made for the first of them. */
  runContext?: NonNullable<Scope['run']>;
  readonly variables?: VariableValues;
  /** The URL and key for URLs of callbacks. */
  readonly callbacks?: CallbackSettings;
  readonly signals: SignalState;
  readonly root: ScopeState;
  /** The nodes outside the scope of the run that run or wait, by key. */
  readonly located: Map<string, { scope: ScopeState; id: string }>;
  readonly timers: Map<string, Timer>;
  /** Loops in progress that have not opened again in this runner, by key. */
  readonly unfinishedLoops: Map<string, NodeState>;
  /** The items that were stored when the run was claimed, by the key of their loop. */
  readonly storedItems: ReadonlyMap<string, LoopItems>;
  /** By node: how many items it was executed for, over all outer iterations. */
  readonly itemTotals: Map<string, number>;
  /** The changes to store next. */
  checkpoints: NodeState[];
  itemCheckpoints: { owner: KeyOwner; node: NodeState }[];
  dropped: string[];
  starts: NodeStart[];
  waits: NonNullable<Advance['waits']>;
  /** The attempts without effects to start: they need no mark. */
  computations: NodeStart[];
  /** The keys of computations in progress. */
  readonly computing: Set<string>;
  /** The attempts in flight of the run. */
  readonly attempts: AttemptShare;
  /** The calls of agents with tools. */
  readonly calls: AgentCalls;
  /** The memories of agents. */
  readonly memories: AgentMemories;
  /** What is masked in what nodes have sent. */
  readonly secrets: LoadedSecrets | undefined;
  /** Bytes of what nodes have sent in this runner. */
  sentBytes: number;
  /** Until when results without effects may wait for computations, on the monotonic clock of this process. */
  waitUntil: number;
  reply?: Reply | undefined;
  /** Set once: no node starts any more, and the run ends like this when no node runs. */
  halt?: RunEnd;
  /** The runner shuts down: no effect starts any more. */
  stopping: boolean;
  /** Unfinished child runs that the run waits for, by the key of their node. Agents have several. */
  readonly children: Map<string, readonly string[]>;
  /** Keys of nodes whose child is to be read, because its end may be lost. */
  doubtfulChildren: string[];
  /** Child runs to cancel, because their node has ended before them. */
  abandonedChildren: string[];
  /** The signals whose nodes have ended, to remove with the next step. */
  consumed: string[];
  /** Scopes whose timeout has passed since the last pass: their attempts must stop. */
  expired: ScopeState[];
  /** The last pass left work for the next one. */
  hasMore: boolean;
};

/** How a scope has ended. */
export type ScopeEnd = { kind: 'succeeded'; output: NodeOutput } | { kind: 'failed'; end: ScopeFailure };

/** One scheduling pass. */
export type Pass = {
  readonly state: ExecutionState;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** No further item starts after this time, on the monotonic clock. */
  readonly until: number;
  endedItems: number;
  /** Schedules the nodes of a scope. Returns its end, if it has ended. */
  decide(scope: ScopeState): ScopeEnd | undefined;
};

const ENDED: readonly string[] = ['Succeeded', 'Failed', 'Cancelled', 'Skipped', 'Unknown'];

/** Whether the phase of a node is terminal. */
export function isEnded(phase: NodePhase | undefined): boolean {
  return phase !== undefined && ENDED.includes(phase);
}

/** A scope in which no node has started. */
export function newScope(
  path: string,
  graph: Graph,
  around?: { parent: ScopeState; iteration: Iteration },
): ScopeState {
  return {
    path,
    graph,
    phases: new Map(),
    outputs: new Map(),
    progress: new Map(),
    conditionResults: new Map(),
    loops: new Map(),
    hasChanged: true,
    isOver: false,
    storedKeys: new Set(),
    // Last: properties after a spread are defined slowly, one by one.
    ...around,
  };
}

/** What a run is executed with. `attempts`: left out, no limit bounds its attempts in flight. */
export type RunContext = {
  namespace: string;
  variables?: VariableValues;
  callbacks?: CallbackSettings | undefined;
  attempts?: AttemptShare;
  calls?: AgentCalls;
  secrets?: LoadedSecrets | undefined;
};

/** The state of a run in which no node has started. */
export function newState(
  claim: Claim,
  plan: Plan,
  { namespace, variables, callbacks, attempts = UNLIMITED, calls = new AgentCalls(), secrets }: RunContext,
  storedItems: ExecutionState['storedItems'] = new Map(),
): ExecutionState {
  return {
    claim,
    plan,
    namespace,
    signals: { version: '', values: new Map(), awaiting: new Set(), due: [] },
    root: newScope('', plan.graph),
    located: new Map(),
    timers: new Map(),
    unfinishedLoops: new Map(),
    storedItems,
    itemTotals: new Map(),
    checkpoints: [],
    itemCheckpoints: [],
    dropped: [],
    starts: [],
    waits: [],
    computations: [],
    computing: new Set(),
    attempts,
    calls,
    memories: new AgentMemories(),
    secrets,
    sentBytes: 0,
    waitUntil: 0,
    stopping: false,
    children: new Map(),
    doubtfulChildren: [],
    abandonedChildren: [],
    consumed: [],
    expired: [],
    hasMore: false,
    ...(variables && { variables }),
    ...(callbacks && { callbacks }),
  };
}

/** The key of a node of the scope. */
export function keyOf({ path }: ScopeState, id: string): string {
  return path === '' ? id : `${path}/${id}`;
}

/** The scope and the ID of a node that runs or waits. */
export function locate(state: ExecutionState, key: string): { scope: ScopeState; id: string } {
  return state.located.get(key) ?? { scope: state.root, id: key };
}

/** The key of a node of the scope, which `locate` finds until the node has ended. */
export function locatedKey(state: ExecutionState, scope: ScopeState, id: string): string {
  const key = keyOf(scope, id);
  if (scope !== state.root) state.located.set(key, { scope, id });
  return key;
}

/** Whether the scope is one of several items: live events would mix them. */
export function isInItem(scope: ScopeState): boolean {
  return itemOf(scope) !== undefined;
}

/** The index of the item of the innermost loop with `forEach` around the nodes of the scope. */
export function itemOf(scope: ScopeState): number | undefined {
  for (let at: ScopeState | undefined = scope; at; at = at.parent)
    if (at.iteration?.loop.items !== undefined) return at.iteration.index;
  return undefined;
}

/** Notes that a node of the scope has changed, so that the next scheduling pass visits it. */
export function touch(scope: ScopeState): void {
  for (let at: ScopeState | undefined = scope; at && !at.hasChanged; at = at.parent) at.hasChanged = true;
}

/** The progress of a started node. Throws for another node. */
export function progressOf({ progress }: ScopeState, id: string): Progress {
  const found = progress.get(id);
  if (!found) throw new Error(`node ${id} has not begun`);
  return found;
}
