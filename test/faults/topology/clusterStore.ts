/**
 * The Redis Cluster of the failovers: three primaries with two replicas each, every server on a host of its
 * own. The primary that fails is that of the project's slot.
 */
import { slotOf } from '../../../store/clusterSlots.ts';
import { keysOf } from '../../../store/keys.ts';
import { makeHosts, type Host, type Hosts } from '../../support/network/hosts.ts';
import { TESTER } from '../../support/operator/operatorHarness.ts';
import { startCluster, type ClusterMember, type TestCluster } from '../../support/runStore/cluster.ts';
import type { StartStore } from '../storm/harness.ts';
import { FEW_RECORDS, type FailingServer, type FailoverStore, type ReplicatedStore } from './failovers.ts';

/** Of each primary: with a single one nothing could be confirmed until the former primary is back. */
const REPLICAS = 2;
const SERVERS = 3 * (1 + REPLICAS);
const ACCOUNT = { username: TESTER, password: TESTER };

type Started = { cluster: TestCluster; hosts: Hosts };

/** A Redis Cluster. `confirming`: how many replicas confirm what is acknowledged. */
export function clusterStore(confirming: number): FailoverStore {
  const started = Promise.withResolvers<Started>();
  const start: StartStore = async ({ acl }, closers) => {
    const hosts = await makeHosts(SERVERS);
    closers.add(() => hosts.remove());
    const cluster = await startCluster({ acl, account: ACCOUNT, replicas: REPLICAS, hosts: hosts.all });
    closers.add(() => cluster.stop());
    started.resolve({ cluster, hosts });
    return {
      redisURL: () => cluster.url(confirming),
      direct: { url: cluster.url(0), ...ACCOUNT },
      operatorEnv: FEW_RECORDS,
    };
  };
  return {
    start,
    storeOf: async (project) => storeOf({ ...(await started.promise), slot: slotOf(keysOf(project).prefix) }),
  };
}

type Place = Started & { slot: number };

function storeOf(place: Place): ReplicatedStore {
  const { cluster, slot } = place;
  return {
    primary: async () => {
      const server = await cluster.primaryOf(slot).catch(() => undefined);
      return server && failingServer(server, place);
    },
    settled: (timeoutMs) => cluster.settled(REPLICAS, timeoutMs),
  };
}

function failingServer(server: ClusterMember, { cluster, hosts, slot }: Place): FailingServer {
  return {
    name: server.address,
    kill: async () => {
      await server.kill();
      return () => server.restart();
    },
    freeze: async () => {
      server.freeze();
      return async () => server.thaw();
    },
    // It starts at once as a server that belongs to no Cluster. The others then do not count the primary as
    // failed: an administrator promotes the replica.
    empty: async () => {
      const [replica] = await cluster.replicasOf(server);
      if (replica === undefined) throw new Error('the primary has no replica to promote');
      await server.replace();
      await replica.call('cluster', 'failover', 'takeover');
      return () => cluster.rejoin(server, slot);
    },
    partition: () => hosts.partition(hosts.all.find(({ address }) => address === server.address) as Host),
  };
}
