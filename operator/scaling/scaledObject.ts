/** The ScaledObject of a runner pool, with which KEDA sets the number of runners. */
import { isForbidden, isInvalid, isNotFound } from '../../kube/errors.ts';
import type { Manifest } from '../../kube/writes.ts';
import { scalingOf } from '../pods/scaling.ts';
import type { ProjectConfig } from '../pods/settings.ts';
import type { OperatorContext } from '../shared/context.ts';
import { POOL, POOL_LABELS } from '../shared/names.ts';
import { scaledObjects, type ScaledObject } from '../shared/resources.ts';
import { SCALING_PATH, VALUE_LOCATION } from './endpoint.ts';
import type { ScalingState } from './state.ts';

/** How often KEDA asks. */
const POLLING_SECONDS = 5;

/**
 * The ScaledObject of a project; undefined where KEDA does not scale it. KEDA never goes below one runner:
 * the least number of runners is at least one. Pure.
 */
export function poolScaledObject(
  namespace: string,
  config: Pick<ProjectConfig, 'RUNNER_REPLICAS' | 'RUNNER_AUTOSCALING' | 'SCALING_URL'>,
): Manifest<ScaledObject> | undefined {
  const scaling = scalingOf(config);
  if (scaling.engine !== 'KEDA' || config.SCALING_URL === undefined) return undefined;
  // The value is a number of runners, so that each runner stands for 1.
  const metadata = {
    url: `${config.SCALING_URL}${SCALING_PATH}${namespace}`,
    valueLocation: VALUE_LOCATION,
    targetValue: '1',
  };
  return {
    metadata: { name: POOL, namespace, labels: { ...POOL_LABELS } },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: POOL },
      pollingInterval: POLLING_SECONDS,
      minReplicaCount: scaling.min,
      maxReplicaCount: scaling.max,
      triggers: [{ type: 'metrics-api', metadata }],
    },
  };
}

type EnsureContext = Pick<OperatorContext, 'client' | 'config'> & {
  scaling: Pick<ScalingState, 'refusals' | 'otherScalersChanged'>;
};

/** Why a ScaledObject that was written does not stay. */
const LEAVING = 'an earlier one is being deleted. KEDA ends its deletion';

/**
 * Applies the ScaledObject, or deletes it. A refusal is remembered and not thrown: it must not keep other
 * objects of the pool as they are. Returns whether an earlier one is still being deleted, with which what was
 * applied goes: apply it again soon.
 */
export async function ensureScaledObject(
  { client, config, scaling }: EnsureContext,
  namespace: string,
  manifest: Manifest<ScaledObject> | undefined,
): Promise<boolean> {
  // Without the address the installation does not use KEDA, and the operator has no rights.
  if (config.SCALING_URL === undefined) return false;
  const refusal = await refusalOf(async () => {
    if (manifest === undefined) return void (await client.delete(scaledObjects, { namespace, name: POOL }));
    const { metadata } = await client.apply(scaledObjects, manifest);
    return metadata.deletionTimestamp === undefined ? undefined : LEAVING;
  });
  const before = scaling.refusals.get(namespace);
  if (refusal === undefined) scaling.refusals.delete(namespace);
  else scaling.refusals.set(namespace, refusal);
  if (before !== refusal) scaling.otherScalersChanged.notify(namespace);
  return refusal === LEAVING;
}

/** `write` returns why what it wrote has no effect. */
async function refusalOf(write: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await write();
  } catch (error) {
    if (isNotFound(error)) return 'KEDA is not installed: the API server has no kind ScaledObject.';
    if (isForbidden(error) || isInvalid(error)) return (error as Error).message;
    throw error;
  }
}
