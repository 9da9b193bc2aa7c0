/** What a poller stores beside its cursor, in this process. It is in force as soon as it is stored. */
import type { KnownItems } from '../../../nodes/contract/poller.ts';

export function createKnownItems(): KnownItems {
  let stored: Buffer | undefined;
  return {
    read: async () => stored,
    store: async (bytes) => void (stored = bytes),
  };
}
