/** What a poller remembers between looks, in this process: what was kept counts as soon as it was. */
import type { PollMemory } from '../../nodes/poller.ts';

export function createLookMemory(): PollMemory {
  let kept: Buffer | undefined;
  return {
    read: async () => kept,
    keep: async (bytes) => void (kept = bytes),
  };
}
