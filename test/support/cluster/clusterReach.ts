/** Which hosts of the cluster a program connects to for a project. */
import { StepError } from '../../../api/reasons.ts';
import { createEgress } from '../../../nodes/egress/egress.ts';
import type { EgressRules } from '../../../nodes/egress/rules.ts';

/** The API server is in the range that is allowed, and the node has a public address. */
const AROUND = { KUBERNETES_SERVICE_HOST: '10.96.0.1', HOST_IP: '93.184.216.34' };
const HOSTS = {
  apiServer: AROUND.KUBERNETES_SERVICE_HOST,
  node: AROUND.HOST_IP,
  neighbour: '10.96.0.2',
};

/**
 * The address that is connected to, or the reason why not, by host, with the rules that a program has with
 * this around its pod and this range allowed.
 */
export async function clusterReach(
  rulesOf: (around: typeof AROUND, allowed: string) => EgressRules,
): Promise<Record<string, string>> {
  const egress = createEgress(rulesOf(AROUND, '10.0.0.0/8'));
  const reach = Object.entries(HOSTS).map(async ([name, host]) => {
    const outcome = await egress.resolve(host, 443).then(
      (addresses) => addresses.map(({ address }) => address).join(),
      (error: unknown) => (error instanceof StepError ? error.reason : String(error)),
    );
    return [name, outcome] as const;
  });
  return Object.fromEntries(await Promise.all(reach));
}
