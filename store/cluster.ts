/**
 * The connection to a Redis Cluster: each call goes to the primary that has its keys, by a connection that
 * keeps the promises of one to a single server. The cluster client of the library cannot keep them: it sends
 * calls again after `MOVED`, `TRYAGAIN` and lost connections, and queues them meanwhile.
 */
import { setImmediate } from 'node:timers/promises';
import { Unanswered } from './callErrors.ts';
import { shardedScript } from './clusterScripts.ts';
import { slotOf } from './clusterSlots.ts';
import { createClusterSubscriber } from './clusterSubscriber.ts';
import { watchCluster, type ClusterPlace } from './clusterWatch.ts';
import { keysOf, type ProjectUid } from './keys.ts';
import { createProblemReport, type RunStoreOptions } from './redis.ts';
import type { RunStoreConnection } from './runStoreConnection.ts';
import { createShards, type Shard, type Shards } from './shards.ts';

/** Connects in the background. Until a server of the cluster has answered, every call throws `Unanswered`. */
export function connectCluster(options: RunStoreOptions, place: ClusterPlace): RunStoreConnection {
  const shards = createShards(options, place, () => watch.ask());
  const failovers = createFailovers(shards);
  const subscriber = createClusterSubscriber((channel) => shards.at(slotOf(channel))?.subscriber());
  const known = Promise.withResolvers<void>();
  const reportSlots = createProblemReport(options.log, 'run store: slots without a server');
  const watch = watchCluster({
    place,
    options,
    connected: () => shards.open().filter((shard) => shard.isUp()),
    isWell: () => shards.open().every((shard) => shard.isUp()),
    onView: ({ ranges }) => {
      shards.update(ranges);
      const slots = ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0);
      if (slots < SLOTS) reportSlots(`${SLOTS - slots} of ${SLOTS}`);
      failovers.note();
      subscriber.move();
      known.resolve();
    },
  });
  const call = createRouter(shards, () => watch.ask());
  return {
    healthy: () => shards.isKnown() && shards.open().every((shard) => shard.isUp()),
    ready: (signal) => untilKnown(known.promise, signal),
    command: (name, ...args) => {
      const sent = name === 'publish' ? 'spublish' : name;
      return call(String(args[0]), (shard) => shard.command(sent, ...args));
    },
    script: (script, keys, args) =>
      call(keys[0] ?? '', (shard) => shard.script(shardedScript(script), keys, args)),
    replicated: (project, make, isNeeded) =>
      call(keysOf(project).meta, (shard) => {
        const checked = async () => {
          const answer = await make();
          // A barrier confirms what its own server has.
          if (shards.at(slotOfProject(project)) !== shard)
            throw new Unanswered('another server has the project');
          return answer;
        };
        return shard.replicated(project, checked, isNeeded);
      }),
    onFailover: failovers.follow,
    serverOf: (project) => ({
      command: (name, ...args) => call(keysOf(project).meta, (shard) => shard.command(name, ...args)),
    }),
    primaries: async () => {
      const all = shards.all();
      if (all.length === 0) throw new Unanswered('no server of the cluster is known');
      await Promise.all(all.map(({ opened }) => opened));
      return all;
    },
    primaryOf: (project) => shards.nameAt(slotOfProject(project)),
    together: (projects) => [...Map.groupBy(projects, slotOfProject).values()],
    subscriber: () => subscriber,
    close: async () => {
      watch.close();
      known.promise.catch(() => undefined);
      known.reject(new Unanswered('the connection was closed'));
      await subscriber.close();
      await shards.close();
    },
  };
}

const SLOTS = 16_384;

function slotOfProject(project: ProjectUid): number {
  return slotOf(keysOf(project).meta);
}

type Router = <T>(key: string, make: (shard: Shard) => Promise<T>) => Promise<T>;

/** Makes calls at the server that has a key, in the order in which they come. */
function createRouter(shards: Shards, onDoubt: () => void): Router {
  const whenOpened = async (slot: number): Promise<Shard> => {
    await shards.at(slot)?.opened;
    const shard = shards.at(slot);
    if (shard) return shard;
    onDoubt();
    // Not at once: a caller that retries in a loop must leave the event loop time.
    await setImmediate();
    throw new Unanswered('no server of the cluster has the key');
  };
  return (key, make) => {
    const slot = slotOf(key);
    const shard = shards.at(slot);
    return shard && !shard.isOpening() ? make(shard) : whenOpened(slot).then(make);
  };
}

type Failovers = {
  follow: RunStoreConnection['onFailover'];
  /** Compares where projects are with where they were. */
  note: () => void;
};

/**
 * Calls back before the server that took over is connected: a call that waits for its connection is not made
 * before the listener has returned.
 */
function createFailovers(shards: Shards): Failovers {
  type Follower = { slot: number; listener: () => void; server: string | undefined };
  const followers = new Set<Follower>();
  return {
    follow: (project, listener) => {
      const slot = slotOfProject(project);
      const follower = { slot, listener, server: shards.nameAt(slot) };
      followers.add(follower);
      return { end: () => void followers.delete(follower) };
    },
    note: () => {
      for (const follower of followers) {
        const before = follower.server;
        follower.server = shards.nameAt(follower.slot) ?? before;
        if (before !== undefined && follower.server !== before) follower.listener();
      }
    },
  };
}

async function untilKnown(known: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return known;
  const over = Promise.withResolvers<never>();
  const abort = () => over.reject(new Unanswered('the run store was not reached'));
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  await Promise.race([known, over.promise]).finally(() => signal.removeEventListener('abort', abort));
}
