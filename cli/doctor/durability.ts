/** What the operator found about the durability of the run store, as its metrics have it. */
import { request } from 'node:http';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { forwardPort } from '../../kube/portForward.ts';
import type { Pod } from '../../kube/resource.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { isPodReady } from '../cluster/podReady.ts';

const METRIC = 'windlass_operator_run_store_durability_problem';
const COMPONENT = 'app.kubernetes.io/component';
const METRICS_PORT = 9090;
const ANSWER_MS = 5_000;

/**
 * The problems that the leading operator names (`store/durability.ts`), through a connection that the API
 * server forwards. Undefined where no operator leads, or none can be reached.
 */
export async function readDurability(
  { connection }: Cluster,
  pods: readonly Pod[],
): Promise<string[] | undefined> {
  for (const pod of pods.filter(isOperator)) {
    const { namespace = '', name } = pod.metadata;
    try {
      const stream = await forwardPort(connection, { namespace, pod: name, port: METRICS_PORT });
      const problems = durabilityIn(await metricsOf(stream));
      if (problems !== undefined) return problems;
    } catch {
      // Another one may lead.
    }
  }
  return undefined;
}

/** The problems with the value 1 in metrics; undefined where they do not have the metric. Pure. */
export function durabilityIn(metrics: string): string[] | undefined {
  const found = [...metrics.matchAll(new RegExp(`^${METRIC}\\{problem="(\\w+)"\\} (\\d)`, 'gm'))];
  if (found.length === 0) return undefined;
  return found.flatMap(([, problem = '', value]) => (value === '1' ? [problem] : []));
}

const isOperator = (pod: Pod): boolean => pod.metadata.labels?.[COMPONENT] === 'operator' && isPodReady(pod);

function metricsOf(stream: Duplex): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const sent = request({
    createConnection: () => stream,
    path: '/metrics',
    headers: { host: 'windlass', connection: 'close' },
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  sent.on('response', (answer) => {
    text(answer).then(resolve, reject);
  });
  sent.on('error', reject);
  sent.end();
  return promise;
}
