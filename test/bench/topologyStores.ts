/** Run stores of other kinds beside that of the gateway's benchmarks, each with a gateway of its own. */
import { slotOf } from '../../store/clusterSlots.ts';
import { connectRunStore } from '../../store/connection.ts';
import { keysOf } from '../../store/keys.ts';
import { startGateway } from '../support/gateway/gatewayProcess.ts';
import { NAMESPACE, PROJECT } from '../support/gateway/gatewayHarness.ts';
import { startCluster } from '../support/runStore/cluster.ts';
import {
  startRedis,
  type RedisOptions,
  type ServerProgram,
  type TestRedis,
} from '../support/runStore/redis.ts';
import { replicateRedis, replicationConfig } from '../support/runStore/sentinel.ts';
import { emptyStore, STORE_CONFIG, WORKFLOW, type Harness } from './harness.ts';

/**
 * `replicas`: all of them have to confirm; 0: one server without sentinels. `isCluster`: three primaries with
 * so many each.
 */
export type StoreKind = { program?: ServerProgram; replicas: number; isCluster?: boolean };

/** Starts it, with the API server and the routes of the other harness. Closed before that one. */
export async function startBeside(harness: Harness, kind: StoreKind): Promise<Harness> {
  const closers: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const end of closers.splice(0).toReversed()) await end();
  };
  try {
    const { redis, redisURL, stop } = await startStore(kind);
    closers.push(stop);
    const runs = connectRunStore({ url: redisURL, name: 'bench' });
    closers.push(() => runs.close());
    await runs.ready();
    await emptyStore({ redis, runs });
    const gateway = await startGateway({
      kubeconfigPath: harness.api.kubeconfigPath,
      redisURL,
      pod: `gateway-beside-${redis.port}`,
      namespace: NAMESPACE,
      env: { LIMITS: harness.limits },
    });
    closers.push(() => gateway.stop());
    const hook = (workflow: string) => `${gateway.publicURL}/webhook/${NAMESPACE}.${workflow}/new`;
    const own = { redis, redisURL, runs, gateway, hook, hookURL: hook(WORKFLOW), close };
    return { ...harness, ...own, emptyStore: () => emptyStore({ redis, runs }) };
  } catch (error) {
    await close();
    throw error;
  }
}

/** `redis`: the server that has the keys of the project. */
type Started = { redis: TestRedis; redisURL: string; stop: () => Promise<void> };

async function startStore({ program, replicas, isCluster = false }: StoreKind): Promise<Started> {
  const options: RedisOptions = { ...(program && { program }), config: STORE_CONFIG };
  if (isCluster) {
    const cluster = await startCluster({ ...options, replicas });
    const redis = await cluster.primaryOf(slotOf(keysOf(PROJECT).prefix));
    return { redis, redisURL: cluster.url(replicas), stop: () => cluster.stop() };
  }
  const redis = await startRedis({ ...options, config: replicationConfig(STORE_CONFIG) });
  try {
    const replicated = replicas > 0 ? await replicateRedis(redis, replicas, options) : undefined;
    return {
      redis,
      redisURL: replicated?.url(replicas) ?? redis.url,
      stop: async () => {
        await replicated?.stop();
        await redis.stop();
      },
    };
  } catch (error) {
    await redis.stop();
    throw error;
  }
}
