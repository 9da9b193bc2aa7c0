/**
 * The replicas of the primary that is connected, for what servers do not replicate: their accounts. One
 * connection each, opened when it is needed, and closed once the primary no longer has the replica.
 */
import type { Redis } from 'ioredis';
import { isAddress, nameOf, type ServerAddress } from '../api/runStoreURL.ts';
import type { Log } from '../kube/log.ts';
import { Unanswered } from './callErrors.ts';
import { createLogLimit } from './logLimit.ts';
import { closeRedis, untilReadyWithin } from './redis.ts';
import { createSender } from './sender.ts';

export type ServerCalls = { command: (name: string, ...args: (string | number)[]) => Promise<unknown> };

export type Replicas = {
  /**
   * Calls `work` for one replica after the other. A replica that does not answer is left out and logged,
   * because callers repeat their work. Throws as the connection to the primary does.
   */
  each: (work: (server: ServerCalls) => Promise<void>) => Promise<void>;
  close(): Promise<void>;
};

/** Where there are none, or the servers before the primary take care of them. */
export const NO_REPLICAS: Replicas = { each: () => Promise.resolve(), close: () => Promise.resolve() };

const READY_MS = 1_000;

/** The replicas in the answer of `INFO replication`. */
export function replicasIn(info: string): ServerAddress[] {
  const found = info.matchAll(/^slave\d+:ip=([^,]+),port=(\d+),/gm);
  return [...found].map(([, host = '', port]) => ({ host, port: Number(port) })).filter(isAddress);
}

export function createReplicas({
  addresses: named,
  open,
  log,
  maySend,
}: {
  /** Where they are now. */
  addresses: () => Promise<readonly ServerAddress[]>;
  open: (address: ServerAddress) => Redis;
  log: Log | undefined;
  /** See `RunStoreOptions`. */
  maySend: (() => boolean) | undefined;
}): Replicas {
  const clients = new Map<string, Redis>();
  const limits = new Map<string, () => boolean>();
  const clientOf = (key: string, address: ServerAddress): Redis => {
    const client = clients.get(key) ?? open(address);
    clients.set(key, client);
    return client;
  };
  const report = (key: string, error: Error): void => {
    const mayLog = limits.get(key) ?? createLogLimit();
    limits.set(key, mayLog);
    if (!mayLog()) return;
    log?.warn({ replica: key, error: error.message }, 'run store: replica does not answer');
  };
  return {
    each: async (work) => {
      const addresses = new Map((await named()).map((address) => [nameOf(address), address]));
      await closeOthers(clients, addresses);
      for (const [key, address] of addresses) {
        const client = clientOf(key, address);
        const { command } = createSender(client, { log, maySend });
        try {
          await untilReadyWithin(client, READY_MS);
          await work({ command: (name, ...args) => command(name, args) });
        } catch (error) {
          if (!(error instanceof Unanswered)) throw error;
          report(key, error);
        }
      }
    },
    close: async () => closeOthers(clients, new Map()),
  };
}

async function closeOthers(clients: Map<string, Redis>, wanted: ReadonlyMap<string, unknown>): Promise<void> {
  const over = [...clients].filter(([key]) => !wanted.has(key));
  for (const [key] of over) clients.delete(key);
  await Promise.all(over.map(([, client]) => closeRedis(client)));
}
