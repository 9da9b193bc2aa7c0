/**
 * Stores the steps of one run that is executed, in order and each once. A run store that was put back to an
 * older state is noticed: it gets everything that is known of the run again, and the claim, if that was lost
 * with the rest and nobody else has one.
 */
import type { Log } from '../kube/log.ts';
import { advance } from '../runs/advance.ts';
import type { RunStoreConnection } from '../runs/connection.ts';
import { rejoin } from '../runs/rejoin.ts';
import type { Advance, Claim, ClaimRef, Fenced, TooLarge } from '../runs/types.ts';
import { wholeStep } from './whole.ts';

export class RunWriter {
  readonly #conn: RunStoreConnection;
  readonly #log: Log;
  readonly #claim: Claim;
  readonly #claimedAt = performance.now();
  #ref: ClaimRef;
  #epoch: number;
  /** Of the run, as it is known here. */
  #sequence: number;
  readonly #stored: Advance[] = [];
  #isBehind = false;

  constructor(conn: RunStoreConnection, claim: Claim, log: Log) {
    const { project, run, epoch, sequence } = claim.state;
    this.#conn = conn;
    this.#log = log;
    this.#claim = claim;
    this.#ref = { project, run, token: claim.token };
    this.#epoch = epoch;
    this.#sequence = sequence;
  }

  /** What names the run's claim; another object after `adopt`. */
  get ref(): ClaimRef {
    return this.#ref;
  }

  /** Whether the run store is known to have an older state of the run, so that it is to be told all soon. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** What is left of the run's timeout. */
  remainingMs(): number {
    return this.#claim.remainingMs - (performance.now() - this.#claimedAt);
  }

  /**
   * Goes on under a new claim of the same run, if nobody else has gone on with it: the store was put back to
   * a state from before the claim, or lost its data and got the run back from its record.
   */
  adopt({ token, state }: Claim): boolean {
    // A claim counts as one step, and a record may have our last one.
    const latest = this.#sequence + (state.restored ? 1 : 0);
    if (state.acceptedAt !== this.#claim.state.acceptedAt) return false;
    if (state.crashes > 0 || state.sequence > latest) return false;
    this.#ref = { ...this.#ref, token };
    this.#epoch = state.epoch;
    this.#sequence = Math.max(this.#sequence, state.sequence);
    this.#isBehind = true;
    return true;
  }

  /** Stores the step. `waits`: of the nodes that wait now, for a store that has lost them. */
  async store(step: Advance, waits: NonNullable<Advance['waits']>): Promise<Fenced | TooLarge> {
    const ref = this.#ref;
    const all = this.#isBehind ? wholeStep(this.#claim.state.nodes, this.#stored, step, waits) : step;
    const outcome = await advance(this.#conn, ref, { ...all, follows: this.#sequence });
    if (outcome.outcome === 'done') this.#noteStored(step);
    if (outcome.outcome !== 'rewound' && outcome.outcome !== 'fenced') return outcome;
    if (outcome.outcome === 'fenced' && ref === this.#ref) {
      const rejoined = await this.#rejoin();
      if (rejoined.outcome !== 'done') return rejoined;
    }
    this.#log.warn({ run: ref.run }, 'run store lost steps, storing them again');
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
  }
}
