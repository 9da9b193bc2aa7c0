/** Two real gateways in place of a harness's fake gateway: they acknowledge routes themselves. */
import { startGateway, type GatewayProcess } from '../gateway/gatewayProcess.ts';
import { SYSTEM, TESTER, type OperatorHarness } from './operatorHarness.ts';

const PODS = ['gateway-a', 'gateway-b'] as const;

/** Starts both, each with the rights of this kubeconfig. The operator is to be started after them. */
export async function startReplicas(
  harness: OperatorHarness,
  kubeconfigPath: string,
): Promise<GatewayProcess[]> {
  const replicas = await Promise.all(PODS.map((pod) => startReplica(harness, kubeconfigPath, pod)));
  // The harness only says that they have endpoints.
  for (const pod of PODS) harness.gateway.lag(pod);
  await harness.gateway.ready(...PODS);
  return replicas;
}

/** Starts one of them, also again. */
export function startReplica(
  harness: OperatorHarness,
  kubeconfigPath: string,
  pod: (typeof PODS)[number] = PODS[0],
): Promise<GatewayProcess> {
  const env = { REDIS_USERNAME: TESTER, REDIS_PASSWORD: TESTER };
  return startGateway({ kubeconfigPath, redisURL: harness.redis.url, namespace: SYSTEM, env, pod });
}
