/** The steps in which a slot of a Redis Cluster migrates from one primary to another. */
import type { ClusterMember } from './cluster.ts';

type SlotMigration = {
  /** From now on, the former primary refuses keys that it no longer has, and some scripts. */
  begin: () => Promise<void>;
  migrateKeys: () => Promise<void>;
  /** Tells both primaries that the new one has the slot. */
  end: () => Promise<void>;
};

/** Prepares the migration of the slot; begins nothing. */
export function slotMigration(slot: number, from: ClusterMember, to: ClusterMember): SlotMigration {
  const name = String(slot);
  const idOf = async ({ call }: ClusterMember) => String(await call('cluster', 'myid'));
  return {
    begin: async () => {
      await to.call('cluster', 'setslot', name, 'importing', await idOf(from));
      await from.call('cluster', 'setslot', name, 'migrating', await idOf(to));
    },
    migrateKeys: async () => {
      const keys = (await from.call('cluster', 'getkeysinslot', name, '1000')) as string[];
      await from.call('migrate', to.address, String(to.port), '', '0', '5000', 'keys', ...keys);
    },
    end: async () => {
      const id = await idOf(to);
      for (const { call } of [to, from]) await call('cluster', 'setslot', name, 'node', id);
    },
  };
}
