/**
 * `GET /scaling/<namespace>` on the metrics port: how many runners the project needs, for the `metrics-api`
 * scaler of KEDA. Only the leader knows it: other replicas redirect to the leader.
 */
import type { HealthAnswer } from '../../kube/healthServer.ts';
import type { Caches } from '../shared/caches.ts';
import type { OperatorConfig } from '../shared/config.ts';
import type { ScalingState } from './state.ts';

export const SCALING_PATH = '/scaling/';
/** The member of the answer. */
export const VALUE_LOCATION = 'runners';

type EndpointContext = {
  caches: Pick<Caches, 'leases' | 'slices'>;
  config: Pick<OperatorConfig, 'LEASE_NAME' | 'METRICS_PORT' | 'POD_NAME'>;
  /** The operator's own. */
  namespace: string;
  scaling: Pick<ScalingState, 'needed'>;
  isLeading: () => boolean;
};

/**
 * Answers 503 while the number is unknown, so that KEDA leaves the runners as they are. Undefined for other
 * paths.
 */
export function answerScaling(path: string, context: EndpointContext): HealthAnswer | undefined {
  if (!path.startsWith(SCALING_PATH)) return undefined;
  if (!context.isLeading()) return redirect(path, context);
  const needed = context.scaling.needed.get(path.slice(SCALING_PATH.length));
  if (needed === undefined) return { status: 503, text: 'the need of this project is not known\n' };
  return {
    status: 200,
    text: `${JSON.stringify({ [VALUE_LOCATION]: needed })}\n`,
    headers: { 'content-type': 'application/json' },
  };
}

function redirect(path: string, { caches, config, namespace }: EndpointContext): HealthAnswer {
  const leader = caches.leases.get(namespace, config.LEASE_NAME)?.spec?.holderIdentity;
  const address = leader === config.POD_NAME ? undefined : addressOf(caches, leader);
  if (address === undefined) return { status: 503, text: 'the leader is not known\n' };
  const host = address.includes(':') ? `[${address}]` : address;
  return {
    status: 307,
    text: 'ask the leader\n',
    headers: { location: `http://${host}:${config.METRICS_PORT}${path}` },
  };
}

/** The address of a pod behind one of the Services of the operator's namespace. */
function addressOf({ slices }: EndpointContext['caches'], pod: string | undefined): string | undefined {
  const endpoints = slices.list().flatMap((slice) => slice.endpoints ?? []);
  return endpoints.find(({ targetRef }) => targetRef?.kind === 'Pod' && targetRef.name === pod)
    ?.addresses?.[0];
}
