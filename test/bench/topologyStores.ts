/** Run stores of other kinds beside that of the gateway's benchmarks, each with a gateway of its own. */
import { connectRunStore } from '../../store/connection.ts';
import { startGateway } from '../support/gateway/gatewayProcess.ts';
import { NAMESPACE } from '../support/gateway/gatewayHarness.ts';
import { startRedis, type ServerProgram } from '../support/runStore/redis.ts';
import { replicateRedis, replicationConfig } from '../support/runStore/sentinel.ts';
import { emptyStore, STORE_CONFIG, WORKFLOW, type Harness } from './harness.ts';

/** `replicas`: all of them have to confirm; 0: one server without sentinels. */
export type StoreKind = { program?: ServerProgram; replicas: number };

/** Starts it, with the API server and the routes of the other harness. Closed before that one. */
export async function startBeside(harness: Harness, { program, replicas }: StoreKind): Promise<Harness> {
  const closers: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const end of closers.splice(0).toReversed()) await end();
  };
  try {
    const options = { ...(program && { program }), config: STORE_CONFIG };
    const redis = await startRedis({ ...options, config: replicationConfig(STORE_CONFIG) });
    closers.push(() => redis.stop());
    const replicated = replicas > 0 ? await replicateRedis(redis, replicas, options) : undefined;
    closers.push(async () => replicated?.stop());
    const redisURL = replicated?.url(replicas) ?? redis.url;
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
