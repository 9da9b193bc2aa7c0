/** The known items of a polled trigger in the run store, for one poll. */
import { isUnavailable, type RunStoreConnection } from '../../store/connection.ts';
import type { PollRef } from '../../store/polling/triggers.ts';
import { readKnownItems, storeKnownItems } from '../../store/polling/knownItems.ts';
import { PollError, type KnownItems } from '../../nodes/contract/poller.ts';

const MAX_MIB = 8;

export type StoredKnownItems = KnownItems & {
  /** The name of the known items that were stored last, for the cursor; undefined if none were. */
  storedName(): string | undefined;
};

/**
 * `isFirst`: the poll has no cursor, so no stored items belong to it. Throws a PollError if the run store is
 * unavailable or the claim was fenced.
 */
export function createKnownItems(conn: RunStoreConnection, ref: PollRef, isFirst: boolean): StoredKnownItems {
  let storedName: string | undefined;
  return {
    storedName: () => storedName,
    read: async () => {
      if (isFirst) return undefined;
      const found = await readKnownItems(conn, ref);
      if (isUnavailable(found)) throw unavailable();
      return found.bytes;
    },
    store: async (bytes) => {
      if (bytes.length > MAX_MIB * 2 ** 20) {
        const mib = Math.ceil(bytes.length / 2 ** 20);
        throw new PollError(
          'TooLarge',
          `the polling state takes ${mib} MiB, at most ${MAX_MIB} MiB are allowed: watch fewer items`,
        );
      }
      const answer = await storeKnownItems(conn, ref, bytes);
      if (answer.outcome === 'kept') {
        storedName = answer.name;
        return;
      }
      if (answer.outcome === 'full')
        throw new PollError(
          'ProjectFull',
          'the project has used up its quota in the run store: runs that end free space',
        );
      throw unavailable();
    },
  };
}

const unavailable = () => new PollError('StoreUnavailable', 'the run store was unreachable during the poll');
