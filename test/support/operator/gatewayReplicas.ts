/** Two gateways as they are, in place of the stand-in of a stage: they acknowledge routes for themselves. */
import { startGateway, type GatewayProcess } from '../gateway/gatewayProcess.ts';
import { SYSTEM, TESTER, type OperatorStage } from './operatorHarness.ts';

const PODS = ['gateway-a', 'gateway-b'];

/** Starts both, each with the rights of this kubeconfig. The operator is to be started after them. */
export async function startReplicas(stage: OperatorStage, kubeconfigPath: string): Promise<GatewayProcess[]> {
  const env = { REDIS_USERNAME: TESTER, REDIS_PASSWORD: TESTER };
  const place = { kubeconfigPath, redisURL: stage.redis.url, namespace: SYSTEM, env };
  const replicas = await Promise.all(PODS.map((pod) => startGateway({ ...place, pod })));
  // The stage only says that they have endpoints.
  for (const pod of PODS) stage.gateway.lag(pod);
  await stage.gateway.ready(...PODS);
  return replicas;
}
