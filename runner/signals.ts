/** The signals of a run in flight, as its runner has read them. */
import { readSignals, type Signals } from '../runs/signals.ts';
import type { Claim } from '../runs/types.ts';
import type { RunStoreConnection } from '../store/connection.ts';
import { retryUntilStored } from './retryUntilStored.ts';

export class RunSignals {
  readonly #conn: RunStoreConnection;
  readonly #claim: Claim;
  /** Whether the run has signals that were not read. */
  isUnread: boolean;
  #read: Signals = { version: '', values: new Map() };

  constructor(conn: RunStoreConnection, claim: Claim) {
    this.#conn = conn;
    this.#claim = claim;
    // A signal between the claim and this moment was announced to nobody.
    const isWaiting = claim.state.nodes.some(({ phase }) => phase === 'Waiting');
    this.isUnread = isWaiting || claim.state.signaled !== undefined;
  }

  /** The version of the signals that were read, for `Advance.signalsRead`. */
  get version(): string {
    return this.#read.version;
  }

  get values(): ReadonlyMap<string, unknown> {
    return this.#read.values;
  }

  /** Reads the signals, if some are unread. Retries while the run store is unavailable. */
  async read(abandon: AbortSignal): Promise<void> {
    if (!this.isUnread) return;
    this.isUnread = false;
    const found = await retryUntilStored(async () => {
      const signals = await readSignals(this.#conn, this.#claim.state);
      return 'outcome' in signals ? signals : { outcome: 'done' as const, signals };
    }, abandon);
    if (found) this.#read = found.signals;
  }
}
