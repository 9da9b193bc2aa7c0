/**
 * Stores the steps of a run in order, each once. Detects a run store that was rewound to an older state: then
 * it stores the whole state of the run again, and renews the claim if it was lost and no one else has one.
 */
import type { Log } from '../kube/log.ts';
import { advance } from '../runs/advance.ts';
import type { Ender } from '../runs/ender.ts';
import type { RunStoreConnection } from '../store/connection.ts';
import { rejoin } from '../runs/rejoin.ts';
import type { Advance, AgentCall, Seen, TooLarge } from '../runs/types/advance.ts';
import type { Claim, ClaimRef, Fenced } from '../runs/types/claim.ts';
import type { AgentMark, NodeState } from '../runs/types/node.ts';

/** So many steps are merged into one, so that a long loop does not keep each of them in memory. */
const STORED_STEPS = 50;

type KnownAtClaim = {
  /** The items of loops and the calls of agents that the run store had. */
  items?: ReadonlyMap<string, NodeState> | undefined;
  calls?: ReadonlyMap<string, string> | undefined;
  /** See `Plan`. */
  isPlain?: boolean;
};

type WriterOptions = KnownAtClaim & {
  /** Ends the run together with others. Left out: by itself. */
  endTogether?: Ender | undefined;
};

export class RunWriter {
  readonly #conn: RunStoreConnection;
  readonly #endTogether: Ender | undefined;
  readonly #log: Log;
  readonly #claim: Claim;
  readonly #claimedAt = performance.now();
  #ref: ClaimRef;
  #epoch: number;
  /** The sequence of the last stored step. */
  #sequence: number;
  readonly #known: readonly NodeState[];
  readonly #knownCalls: readonly AgentCall[];
  #stored: Advance[] = [];
  #isBehind = false;

  constructor(
    conn: RunStoreConnection,
    claim: Claim,
    log: Log,
    { items, calls, isPlain, endTogether }: WriterOptions = {},
  ) {
    const { project, run, epoch, sequence, parent } = claim.state;
    this.#conn = conn;
    this.#endTogether = endTogether;
    this.#log = log;
    this.#claim = claim;
    this.#known = [...claim.state.nodes, ...(items?.values() ?? [])];
    this.#knownCalls = [...(calls ?? [])].map(([key, value]) => ({ key, value, isAnswer: false }));
    this.#ref = {
      project,
      run,
      token: claim.token,
      ...(parent ? { parent } : { isPlain: isPlain === true }),
    };
    this.#epoch = epoch;
    this.#sequence = sequence;
  }

  /** The current claim; another object after `adopt`. */
  get ref(): ClaimRef {
    return this.#ref;
  }

  /** Whether the run store has an older state of the run, so that the whole state must be stored. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** Another script did not know the claim: the next step takes the run back, or learns that it is fenced. */
  noteFenced(): void {
    this.#isBehind = true;
  }

  /** The rest of the run's timeout, in milliseconds. */
  remainingMs(): number {
    return this.#claim.remainingMs - (performance.now() - this.#claimedAt);
  }

  /**
   * Continues under a new claim of the same run, unless another runner has continued it: the run store was
   * rewound to a state before the claim, or restored the run from its record. Returns whether it continues.
   */
  adopt({ token, state }: Claim): boolean {
    // A claim counts as one step, and the record may have our last one.
    const latest = this.#sequence + (state.restored ? 1 : 0);
    if (state.acceptedAt !== this.#claim.state.acceptedAt) return false;
    if (state.crashes > 0 || state.sequence > latest) return false;
    this.#ref = { ...this.#ref, token };
    this.#epoch = state.epoch;
    this.#sequence = Math.max(this.#sequence, state.sequence);
    this.#isBehind = true;
    return true;
  }

  /** Stores the step. `waits`: the nodes that wait now, for a run store that lost them. */
  async store(step: Advance, waits: NonNullable<Advance['waits']>): Promise<Fenced | TooLarge | Seen> {
    const ref = this.#ref;
    const all = this.#isBehind ? mergeSteps(this.#known, this.#stored, step, waits, this.#knownCalls) : step;
    const { doubt: isInDoubt = false } = this.#claim.state;
    const next = { ...all, follows: this.#sequence, isInDoubt };
    const outcome = await advance(this.#conn, ref, next, this.#endTogether);
    if (outcome.outcome === 'done') this.#noteStored(step);
    if (outcome.outcome !== 'rewound' && outcome.outcome !== 'fenced') return outcome;
    if (outcome.outcome === 'fenced' && ref === this.#ref) {
      const rejoined = await this.#rejoin();
      if (rejoined.outcome !== 'done') return rejoined;
    }
    this.#log.warn({ run: ref.run }, 'run store rewound, storing again');
    this.#isBehind = true;
    return this.store(step, waits);
  }

  #rejoin(): ReturnType<typeof rejoin> {
    const { acceptedAt } = this.#claim.state;
    const lost = { epoch: this.#epoch, acceptedAt, remainingMs: this.remainingMs() };
    return rejoin(this.#conn, this.#ref, lost);
  }

  #noteStored(step: Advance): void {
    this.#sequence += 1;
    this.#isBehind = false;
    this.#stored.push(step);
    if (this.#stored.length < STORED_STEPS) return;
    this.#stored = [joinSteps(this.#stored)];
  }
}

function mergeCalls(claimed: readonly AgentCall[], steps: readonly Advance[]): AgentCall[] {
  const known = new Map(claimed.map((call) => [call.key, call]));
  for (const { calls = [], droppedCalls = [] } of steps) {
    for (const call of calls) known.set(call.key, call);
    for (const key of droppedCalls) known.delete(key);
  }
  return [...known.values()];
}

/**
 * Stored steps as one. It still drops what they dropped: the run store may have had it at the claim.
 */
export function joinSteps(steps: readonly Advance[]): Advance {
  const { whole: _, ...joined } = mergeSteps([], steps, {}, []);
  const last = [...(joined.checkpoints ?? []), ...(joined.starts ?? [])];
  const kept = new Set([...last, ...(joined.calls ?? [])].map((one) => ('id' in one ? one.id : one.key)));
  const all = (of: (step: Advance) => readonly string[] | undefined) =>
    [...new Set(steps.flatMap((step) => of(step) ?? []))].filter((key) => !kept.has(key));
  const dropped = all((step) => step.dropped);
  const droppedCalls = all((step) => step.droppedCalls);
  return {
    ...joined,
    ...(dropped.length > 0 && { dropped }),
    ...(droppedCalls.length > 0 && { droppedCalls }),
  };
}

type Known = { checkpoint: NodeState } | { start: AgentMark };

/**
 * One step with the whole state of the run, for a run store that was rewound: the nodes of the claim, the
 * stored steps in order, and `next`. Only the last state of each node counts; a running node keeps its mark.
 * `waits`: the nodes that wait now, and the items whose timeout passes.
 */
export function mergeSteps(
  claimed: readonly NodeState[],
  stored: readonly Advance[],
  next: Advance,
  waits: NonNullable<Advance['waits']>,
  claimedCalls: readonly AgentCall[] = [],
): Advance {
  const steps = [...stored, next];
  const known = new Map(claimed.map((node) => [node.id, knownOf(node)]));
  for (const { checkpoints = [], starts = [], agents = [], dropped = [] } of steps) {
    for (const key of dropped) known.delete(key);
    for (const checkpoint of checkpoints) known.set(checkpoint.id, { checkpoint });
    for (const start of [...starts, ...agents]) known.set(start.id, { start });
  }
  const calls = mergeCalls(claimedCalls, steps);
  const reply = steps.find((step) => step.reply)?.reply;
  const consumed = steps.flatMap((step) => step.consumed ?? []);
  // A turn is stored again only where the run still owns the memory.
  const memories = steps.flatMap((step) => step.memories ?? []);
  const nodes = [...known.values()];
  const waiting = waits.filter(({ id }) => hasTime(known.get(id)));
  // They are among the starts.
  const { agents: _agents, ...last } = next;
  return {
    ...last,
    checkpoints: nodes.flatMap((node) => ('checkpoint' in node ? [node.checkpoint] : [])),
    starts: nodes.flatMap((node) => ('start' in node ? [node.start] : [])),
    waits: waiting.map(({ id, delayMs }) => ({ id, delayMs: Math.max(0, delayMs) })),
    ...(reply && { reply }),
    ...(consumed.length > 0 && { consumed }),
    ...(calls.length > 0 && { calls }),
    ...(memories.length > 0 && { memories }),
    whole: true,
  };
}

function knownOf(node: NodeState): Known {
  const { id, mark, startedAt, agent, usage } = node;
  if (!mark) return { checkpoint: node };
  const times = startedAt === undefined ? { at: 0 } : { at: startedAt, firstAt: startedAt };
  return { start: { id, ...mark, ...times, ...(agent && { agent }), ...(usage && { usage }) } };
}

/** Whether the time of a node or item still counts. */
function hasTime(known: Known | undefined): boolean {
  if (!known || !('checkpoint' in known)) return false;
  const { phase } = known.checkpoint;
  return phase === 'Waiting' || phase === 'Running';
}
