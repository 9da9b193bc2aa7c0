/** What a poller remembers beside its cursor, as the run store keeps it for one look. */
import { isUnavailable, type RunStoreConnection } from '../../runs/connection.ts';
import type { PollRef } from '../../runs/polling/claim.ts';
import { keepMemory, readMemory } from '../../runs/polling/memory.ts';
import { PollError, type KnownItems } from '../../nodes/poller.ts';

const MOST_MIB = 8;

export type LookMemory = KnownItems & {
  /** The name of what was kept last, if anything was: for the cursor. */
  kept(): string | undefined;
};

/**
 * `isFirst`: the look has no cursor, so that nothing that is kept belongs to it. Where the run store is away
 * or the look is another's, the look fails.
 */
export function createMemory(conn: RunStoreConnection, ref: PollRef, isFirst: boolean): LookMemory {
  let kept: string | undefined;
  return {
    kept: () => kept,
    read: async () => {
      if (isFirst) return undefined;
      const found = await readMemory(conn, ref);
      if (isUnavailable(found)) throw away();
      return found.bytes;
    },
    store: async (bytes) => {
      if (bytes.length > MOST_MIB * 2 ** 20) {
        const mib = Math.ceil(bytes.length / 2 ** 20);
        throw new PollError(
          'TooLarge',
          `what is to be remembered takes ${mib} MiB, at most ${MOST_MIB} MiB are kept: watch less of it`,
        );
      }
      const answer = await keepMemory(conn, ref, bytes);
      if (answer.outcome === 'kept') {
        kept = answer.name;
        return;
      }
      if (answer.outcome === 'full')
        throw new PollError(
          'ProjectFull',
          'the project may hold no more in the run store: runs that end make room',
        );
      throw away();
    },
  };
}

const away = () => new PollError('StoreUnavailable', 'the run store could not be reached during the look');
