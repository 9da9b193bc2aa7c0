/**
 * The in-memory state of a run in flight: the scopes of the run, the state of their nodes, and the changes to
 * store next. Synchronous, without input or output. Changes take effect for others when the run store has
 * stored them.
 *
 * A scope is the run itself, or one execution of a node with forEach, repeat or a body (`loop.ts`). A node is
 * named by its key: its ID in the scope of the run, otherwise `<path of the scope>/<ID>`.
 */
import type { NodeOutput, Scope } from '../api/expression/scope.ts';
import { previousOf, type Graph, type GraphEdge } from '../api/graph.ts';
import type { NodePhase } from '../api/phase.ts';
import type { StepResult } from '../nodes/contract/node.ts';
import type { StepFields } from '../nodes/step.ts';
import type { Advance, Claim, NodeStart, NodeState, Reply, RunEnd } from '../runs/types.ts';
import { callbackToken, CALLBACK_PREFIX, withoutCallbackURLs } from '../api/callback.ts';
import type { CallbackSettings } from '../store/callbacks.ts';
import { UNLIMITED, type AttemptShare } from './attemptLimit.ts';
import type { FailedEnd, ScopeFailure } from './failure.ts';
import type { VariableValues } from '../runs/variables.ts';
import type { Plan, PlannedLoop } from './plan.ts';

/**
 * A started node: the number of started attempts, the number of the next attempt, how the last one failed,
 * and whether the wait of a wait node is over.
 */
type Progress = {
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
  /** What is left of the timeout of the current execution, which another runner began. */
  leftMs?: number;
};

/** The stored items of a loop by index, and the nodes of each by the path of the execution. */
export type LoopItems = {
  states: Map<number, NodeState>;
  nodes: Map<number, Map<string, NodeState[]>>;
};

/** A point in time at which something of the run continues, on the monotonic clock of this process. */
type Timer = { dueAt: number; fire: () => void; isStored: boolean };

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
  readonly variables?: VariableValues;
  /** What URLs of callbacks are made of. */
  readonly callbacks?: CallbackSettings;
  readonly signals: SignalState;
  readonly root: ScopeState;
  /** The nodes outside the scope of the run that run or wait, by key. */
  readonly located: Map<string, { scope: ScopeState; id: string }>;
  readonly timers: Map<string, Timer>;
  /** Loops in progress that have not opened again in this runner, by key. */
  readonly unfinishedLoops: Map<string, NodeState>;
  /** What the run store had of items when the run was claimed, by the key of their loop. */
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
  /** Until when results without effects may wait for computations, on the monotonic clock of this process. */
  waitUntil: number;
  reply?: Reply;
  /** Set once: no node starts any more, and the run ends like this when no node runs. */
  halt?: RunEnd;
  /** The runner shuts down: no effect starts any more. */
  stopping: boolean;
  /** Child runs that the run waits for, by the key of their node. */
  readonly children: Map<string, string>;
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

/** How long results without effects wait for computations, so that one write stores both. */
export const LONGEST_WAIT_MS = 20;

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
    ...around,
    phases: new Map(),
    outputs: new Map(),
    progress: new Map(),
    conditionResults: new Map(),
    loops: new Map(),
    hasChanged: true,
    isOver: false,
    storedKeys: new Set(),
  };
}

/** What a run is executed with. `attempts`: left out, no limit bounds its attempts in flight. */
export type RunContext = {
  namespace: string;
  variables?: VariableValues;
  callbacks?: CallbackSettings | undefined;
  attempts?: AttemptShare;
};

/** The state of a run in which no node has started. */
export function newState(
  claim: Claim,
  plan: Plan,
  { namespace, variables, callbacks, attempts = UNLIMITED }: RunContext,
  storedItems: ExecutionState['storedItems'] = new Map(),
): ExecutionState {
  return {
    claim,
    plan,
    namespace,
    ...(variables && { variables }),
    ...(callbacks && { callbacks }),
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
    waitUntil: 0,
    stopping: false,
    children: new Map(),
    doubtfulChildren: [],
    abandonedChildren: [],
    consumed: [],
    expired: [],
    hasMore: false,
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
  for (let at: ScopeState | undefined = scope; at; at = at.parent)
    if (at.iteration?.loop.items !== undefined) return true;
  return false;
}

/**
 * The scope of references in a node, or in the condition of an edge. `previous`: the ID of the node before,
 * in the graph of the scope.
 */
export function scopeOf(state: ExecutionState, scope: ScopeState, previous: string | undefined): Scope {
  const { run, workflow, acceptedAt, test } = state.claim.state;
  const item = around(scope, ({ loop }) => loop.items !== undefined);
  return {
    node: (id) => outputOf(scope, id),
    previous: previousIn(scope, previous),
    vars: state.variables,
    url: (id) => callbackURL(state, scope, id),
    run: { id: run, workflow, project: state.namespace, accepted: new Date(acceptedAt).toISOString(), test },
    ...(item && { item: item.item, index: item.index }),
  };
}

/** The URL of the callback of a node in the scope or one around it. */
function callbackURL(
  { callbacks, claim }: ExecutionState,
  scope: ScopeState,
  id: string,
): string | undefined {
  if (!callbacks) return undefined;
  const { project, run, acceptedAt } = claim.state;
  for (let at: ScopeState | undefined = scope; at; at = at.parent) {
    if (!at.graph.nodes.some((node) => node.id === id)) continue;
    const token = callbackToken(project, callbacks.key, { run, acceptedAt, node: keyOf(at, id) });
    return `${callbacks.url}${CALLBACK_PREFIX}${token}`;
  }
  return undefined;
}

/**
 * The ID of the node before. Before the first node of an execution of `repeat` that is the execution before,
 * and otherwise what is before the node that is executed.
 */
function previousIn({ graph, iteration }: ScopeState, previous: string | undefined): string | undefined {
  const isFirst = iteration !== undefined && previous === graph.nodes[0]?.id;
  if (!isFirst || iteration.loop.plan.repeat) return previous;
  const { scope, id } = iteration.loop;
  return previousIn(scope, previousOf(scope.graph, id));
}

function around(scope: ScopeState, is: (iteration: Iteration) => boolean): Iteration | undefined {
  for (let at: ScopeState | undefined = scope; at; at = at.parent)
    if (at.iteration && is(at.iteration)) return at.iteration;
  return undefined;
}

function outputOf(scope: ScopeState, id: string): Partial<NodeOutput> | undefined {
  for (let at: ScopeState | undefined = scope; at; at = at.parent) {
    const output = at.outputs.get(id);
    if (output) return output;
    if (at.iteration && (at.iteration.loop.id === id || at.graph.nodes[0]?.id === id))
      return aroundOutput(at.iteration);
  }
  return undefined;
}

/** What a node of a body reads of its group: the item, and the output of the execution before. */
function aroundOutput({ loop, item, index, previous }: Iteration): Partial<NodeOutput> {
  return {
    ...(loop.items && { item, index }),
    ...(loop.plan.repeat && { text_content: '', data_content: previous }),
  };
}

/** Notes that a node of the scope has changed, so that the next scheduling pass visits it. */
export function touch(scope: ScopeState): void {
  for (let at: ScopeState | undefined = scope; at && !at.hasChanged; at = at.parent) at.hasChanged = true;
}

/** References to a failed node can read only its error. */
export function failedOutput(reason = 'Internal', message = ''): NodeOutput {
  return { error: { reason, message } } as unknown as NodeOutput;
}

/** The progress of a started node. Throws for another node. */
export function progressOf({ progress }: ScopeState, id: string): Progress {
  const found = progress.get(id);
  if (!found) throw new Error(`node ${id} has not begun`);
  return found;
}

/** Adds the start mark of the node's next attempt. The attempt starts when the mark is stored. */
export function mark(state: ExecutionState, scope: ScopeState, id: string, now: number): void {
  const key = locatedKey(state, scope, id);
  const progress = progressOf(scope, id);
  const { next, firstAt, crashes } = progress;
  const atMostOnce = state.plan.steps.get(id)?.effect === 'AtMostOnce';
  scope.phases.set(id, 'Running');
  if (scope !== state.root) scope.storedKeys.add(key);
  state.starts.push({
    id: key,
    attempt: next,
    atMostOnce,
    at: now,
    ...(firstAt !== undefined && { firstAt }),
    ...(crashes !== undefined && { crashes }),
    ...(isInItem(scope) && { isSilent: true }),
  });
  scope.progress.set(id, { ...progress, tried: next, firstAt: firstAt ?? now });
}

/** Starts an attempt that has no effect: there is nothing to store before it. */
export function compute(state: ExecutionState, scope: ScopeState, id: string, now: number): void {
  const key = locatedKey(state, scope, id);
  scope.phases.set(id, 'Running');
  state.computations.push({ id: key, attempt: 1, atMostOnce: false, at: now });
  state.computing.add(key);
  state.waitUntil = performance.now() + LONGEST_WAIT_MS;
  scope.progress.set(id, { ...progressOf(scope, id), tried: 1, firstAt: now });
}

/** Skips the node. */
export function skip(state: ExecutionState, scope: ScopeState, id: string, now: number): void {
  scope.phases.set(id, 'Skipped');
  if (isInItem(scope)) return;
  const node: NodeState = { id, phase: 'Skipped', attempts: 0, endedAt: now, ...reasonOfSkip(state, id) };
  addCheckpoint(state, scope, node);
}

/** The reason of nodes beyond `until`. A node without a taken edge needs no reason. */
function reasonOfSkip(
  { plan: { until } }: ExecutionState,
  id: string,
): Pick<NodeState, 'reason' | 'message'> {
  if (until === undefined || until.asked.has(id)) return {};
  return { reason: 'NotAsked', message: `skipped: this test run stops at node ${until.node}` };
}

/** Ends the node with its output. */
export function succeed(
  state: ExecutionState,
  key: string,
  result: StepResult,
  now: number,
  counts: Pick<NodeState, 'items'> = {},
): void {
  const { scope, id } = locate(state, key);
  const { usage, reply } = result;
  const { output, log } = shown(state, { output: result.output, log: result.log });
  settle(state, scope, id, 'Succeeded');
  scope.outputs.set(id, output);
  const { effect, loop } = state.plan.steps.get(id) ?? {};
  const isPure = effect === 'None' && loop === undefined;
  // A node without an effect is computed again where its item continues after a crash.
  if (!(isPure && isInItem(scope)))
    addCheckpoint(state, scope, {
      ...times(scope, id, now),
      phase: 'Succeeded',
      output,
      ...(usage && { usage }),
      ...(log && { log }),
      ...counts,
    });
  if (reply && !state.reply) state.reply = reply;
}

/** Ends the node without an output. */
export function endNode(
  state: ExecutionState,
  key: string,
  end: FailedEnd,
  now: number,
  counts: Pick<NodeState, 'items'> = {},
): void {
  const { phase, reason, message, log } = shown(state, end);
  const { scope, id } = locate(state, key);
  settle(state, scope, id, phase);
  scope.outputs.set(id, failedOutput(reason, message));
  addCheckpoint(state, scope, {
    ...times(scope, id, now),
    phase,
    reason,
    message,
    ...(log && { log }),
    ...counts,
  });
}

function settle(state: ExecutionState, scope: ScopeState, id: string, phase: NodePhase): void {
  const key = keyOf(scope, id);
  scope.phases.set(id, phase);
  state.located.delete(key);
  state.timers.delete(key);
  state.computing.delete(key);
  state.signals.awaiting.delete(key);
  const child = state.children.get(key);
  if (child !== undefined) state.abandonedChildren.push(child);
  state.children.delete(key);
  touch(scope);
}

/** What readers of a run may see: without the URLs of its callbacks, which would let them resume it. */
function shown<T extends object>({ plan }: ExecutionState, value: T): T {
  return plan.hasCallbacks ? withoutCallbackURLs(value) : value;
}

/** Ends an attempt that is retried after the delay. */
export function awaitRetry(state: ExecutionState, key: string, failed: FailedEnd, delayMs: number): void {
  const end = shown(state, failed);
  const { scope, id } = locate(state, key);
  const progress = progressOf(scope, id);
  scope.progress.set(id, { ...progress, next: progress.tried + 1, lastEnd: end });
  delete scope.progress.get(id)?.crashes;
  awaitNode(state, scope, id, delayMs);
  const { reason, message } = end;
  addCheckpoint(state, scope, { ...startOf(progress, id), phase: 'Waiting', reason, message });
}

/** How often a run that waits for a child reads it, where no signal comes. */
export const CHILD_CHECK_MS = 3_600_000;

/** Begins the wait for the child run that the attempt has started. `isKnown`: it may have ended before. */
export function awaitChild(state: ExecutionState, key: string, child: string, isKnown: boolean): void {
  const { scope, id } = locate(state, key);
  const progress = { ...progressOf(scope, id), run: child };
  scope.progress.set(id, progress);
  scope.phases.set(id, 'Waiting');
  watchChild(state, key, child, CHILD_CHECK_MS);
  state.waits.push({ id: key, delayMs: CHILD_CHECK_MS });
  if (isKnown) state.doubtfulChildren.push(key);
  touch(scope);
  addCheckpoint(state, scope, { ...startOf(progress, id), phase: 'Waiting' });
}

/** Reads the child of the node after the delay, and later again. */
export function watchChild(state: ExecutionState, key: string, child: string, delayMs: number): void {
  state.children.set(key, child);
  addTimer(state, key, { delayMs, isStored: true }, () => state.doubtfulChildren.push(key));
}
type WaitingFor = NonNullable<NodeState['waitingFor']>;

/** Begins the wait of a wait node. */
export function beginWait(
  state: ExecutionState,
  scope: ScopeState,
  id: string,
  { delayMs, now, waitingFor }: { delayMs: number; now: number; waitingFor: WaitingFor },
): void {
  const progress = { tried: 1, next: 1, firstAt: now };
  scope.progress.set(id, progress);
  awaitNode(state, scope, id, delayMs);
  addCheckpoint(state, scope, { ...startOf(progress, id), phase: 'Waiting', waitingFor });
}

function awaitNode(state: ExecutionState, scope: ScopeState, id: string, delayMs: number): void {
  const key = locatedKey(state, scope, id);
  scope.phases.set(id, 'Waiting');
  state.waits.push({ id: key, delayMs });
  addWaitTimer(state, key, delayMs);
  touch(scope);
}

/** Adds a timer that `fireTimers` fires after the delay. `isStored`: the run store knows the time too. */
export function addTimer(
  state: ExecutionState,
  key: string,
  { delayMs, isStored }: { delayMs: number; isStored: boolean },
  fire: () => void,
): void {
  state.timers.set(key, { dueAt: performance.now() + delayMs, fire, isStored });
}

/** Adds the timer of a wait that the run store knows. */
export function addWaitTimer(state: ExecutionState, key: string, delayMs: number): void {
  addTimer(state, key, { delayMs, isStored: true }, () => {
    if (state.signals.awaiting.has(key)) state.signals.due.push(key);
    else endWait(state, key);
  });
}

/** Ends the wait of a node: the next scheduling pass starts its next attempt, or ends the wait node. */
export function endWait(state: ExecutionState, key: string): void {
  const { scope, id } = locate(state, key);
  state.timers.delete(key);
  if (scope.phases.get(id) !== 'Waiting') return;
  scope.phases.set(id, 'Pending');
  scope.progress.set(id, { ...progressOf(scope, id), hasWaited: true });
  touch(scope);
}

/** Fires the timers whose time has come. */
export function fireTimers({ timers }: ExecutionState): void {
  const now = performance.now();
  for (const [key, { dueAt, fire }] of timers) {
    if (dueAt > now) continue;
    timers.delete(key);
    fire();
  }
}

/** In how many milliseconds each timer is due. `isStored`: only those that the run store knows. */
export function waitsOf(
  { timers }: ExecutionState,
  { isStored = false } = {},
): { id: string; leftMs: number }[] {
  return [...timers]
    .filter(([, timer]) => timer.isStored || !isStored)
    .map(([id, { dueAt }]) => ({ id, leftMs: dueAt - performance.now() }));
}

/** Returns a node whose attempt was stopped before it had an effect: the next runner repeats the attempt. */
export function release(state: ExecutionState, key: string): void {
  const { scope, id } = locate(state, key);
  const progress = progressOf(scope, id);
  if (state.plan.steps.get(id)?.effect === 'None') {
    state.computing.delete(key);
    scope.phases.delete(id);
    scope.progress.delete(id);
    touch(scope);
    return;
  }
  scope.phases.set(id, 'Pending');
  addCheckpoint(state, scope, {
    ...startOf(progress, id),
    phase: 'Pending',
    attempts: progress.tried - 1,
  });
}

/** The changes to store next, removed from the state. Those of items that are over are left out. */
export function takeChanges(state: ExecutionState): Advance {
  // Only the last checkpoint of a key counts: the run store charges the bytes of each that it gets.
  const items = new Map<string, NodeState>();
  for (const { owner, node } of state.itemCheckpoints) {
    if (owner.isOver) continue;
    owner.storedKeys.add(node.id);
    items.set(node.id, node);
  }
  const checkpoints = [...state.checkpoints, ...items.values()];
  const { starts, waits, reply, dropped, consumed } = state;
  state.checkpoints = [];
  state.itemCheckpoints = [];
  state.starts = [];
  state.waits = [];
  state.dropped = [];
  state.consumed = [];
  delete state.reply;
  return {
    ...(checkpoints.length > 0 && { checkpoints }),
    ...(starts.length > 0 && { starts }),
    ...(waits.length > 0 && { waits }),
    ...(dropped.length > 0 && { dropped }),
    ...(consumed.length > 0 && { consumed }),
    ...(reply && { reply }),
  };
}

/** A node of a scope. */
export type NodePlace = { scope: ScopeState; id: string };

/**
 * Returns nodes whose keys another run has seen to their attempt: it is executed again. Nothing has been
 * decided from their outputs. Returns the keys of the nodes.
 */
export function repeatSeen(
  state: ExecutionState,
  refused: Advance,
  repeated: readonly NodePlace[],
): string[] {
  const keys = repeated.map(({ scope, id }) => {
    scope.phases.set(id, 'Running');
    scope.outputs.delete(id);
    return locatedKey(state, scope, id);
  });
  state.checkpoints.push(...(refused.checkpoints ?? []).filter(({ id }) => !keys.includes(id)));
  state.waits.push(...(refused.waits ?? []));
  state.dropped.push(...(refused.dropped ?? []));
  state.consumed.push(...(refused.consumed ?? []));
  return keys;
}

/** Adds a checkpoint of a node of the scope. `node.id` is the ID of the node. */
export function addCheckpoint(state: ExecutionState, scope: ScopeState, node: NodeState): void {
  if (scope === state.root) state.checkpoints.push(node);
  else
    state.itemCheckpoints.push({
      owner: scope,
      node: { ...node, id: keyOf(scope, node.id), ...(isInItem(scope) && { isSilent: true }) },
    });
}

/**
 * Fails the run because the run store refused a step as too large: the nodes with outputs fail. Without
 * outputs, the run store accepts the step.
 */
export function refuseOutputs(state: ExecutionState, refused: Advance, message: string): void {
  for (const { output, usage: _, log: _log, ...node } of refused.checkpoints ?? []) {
    const fails = output !== undefined && node.id !== state.plan.trigger.id;
    const { scope, id } = locate(state, node.id);
    if (fails && scope.phases.has(id)) scope.phases.set(id, 'Failed');
    const failure = { phase: 'Failed', reason: 'OutputTooLarge', message } as const;
    state.checkpoints.push({ ...node, ...(fails && failure) });
  }
  state.dropped.push(...(refused.dropped ?? []));
  state.consumed.push(...(refused.consumed ?? []));
  // Their start marks were not stored, so they have not started.
  for (const { id: key, attempt } of refused.starts ?? []) {
    state.attempts.release();
    const { scope, id } = locate(state, key);
    scope.phases.delete(id);
    scope.progress.set(id, { ...progressOf(scope, id), tried: attempt - 1 });
    touch(scope);
  }
  state.halt ??= { phase: 'Failed', reason: 'OutputTooLarge', message };
}

/** The start of a node, for a checkpoint. */
export function startOf(
  { tried, firstAt, run }: Progress,
  id: string,
): Pick<NodeState, 'id' | 'attempts' | 'startedAt' | 'run'> {
  return {
    id,
    attempts: tried,
    ...(firstAt !== undefined && { startedAt: firstAt }),
    ...(run !== undefined && { run }),
  };
}

type Times = Pick<NodeState, 'id' | 'attempts' | 'startedAt' | 'endedAt' | 'run'>;

/** A node without progress has no effect: it had one attempt, now. */
function times({ progress }: ScopeState, id: string, now: number): Times {
  const { tried = 1, firstAt = now, run } = progress.get(id) ?? {};
  return { id, attempts: tried, startedAt: firstAt, endedAt: now, ...(run !== undefined && { run }) };
}
