/**
 * Lists what sets the number of runners beside the operator, such as a HorizontalPodAutoscaler: one request
 * for all projects every 30 seconds, since a watch would deliver each change of each of them in the cluster.
 */
import { untilBeat } from '../../kube/beat.ts';
import { findCondition } from '../../kube/conditions.ts';
import { isNotFound } from '../../kube/errors.ts';
import { canonicalJson } from '../../kube/json.ts';
import type { Condition, KubeObject, Resource } from '../../kube/resource.ts';
import type { OperatorContext } from '../shared/context.ts';
import { POOL, POOL_LABELS } from '../shared/names.ts';
import {
  horizontalPodAutoscalers,
  scaledObjects,
  type HorizontalPodAutoscaler,
  type ScaledObject,
} from '../shared/resources.ts';
import type { Autoscaler, OtherScalers, ScalingState } from './state.ts';

const EVERY_MS = 30_000;
const SELECTOR = Object.entries(POOL_LABELS)
  .map(([key, value]) => `${key}=${value}`)
  .join(',');

type OtherScalersContext = Pick<OperatorContext, 'client' | 'clock' | 'config' | 'log'> & {
  scaling: Pick<ScalingState, 'otherScalers' | 'otherScalersChanged'>;
};

/** Lists them until the signal is aborted. */
export async function watchOtherScalers(context: OtherScalersContext, signal: AbortSignal): Promise<void> {
  const { clock, log, scaling } = context;
  while (!signal.aborted) {
    try {
      const found = await listOtherScalers(context);
      const before = scaling.otherScalers ?? new Map<string, OtherScalers>();
      scaling.otherScalers = found;
      for (const namespace of new Set([...before.keys(), ...found.keys()]))
        if (canonicalJson(before.get(namespace)) !== canonicalJson(found.get(namespace)))
          scaling.otherScalersChanged.notify(namespace);
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error }, 'cannot list autoscalers');
    }
    await untilBeat(EVERY_MS, signal, clock);
  }
}

async function listOtherScalers(context: OtherScalersContext): Promise<Map<string, OtherScalers>> {
  const autoscalers = await listIn(context, horizontalPodAutoscalers);
  // Without the address the installation does not use KEDA, and the operator has no rights.
  const objects = context.config.SCALING_URL === undefined ? [] : await listScaledObjects(context);
  return otherScalersOf(autoscalers, objects);
}

/** None where KEDA is not installed. */
async function listScaledObjects(context: OtherScalersContext): Promise<ScaledObject[]> {
  try {
    return await listIn(context, scaledObjects, SELECTOR);
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

async function listIn<T extends KubeObject>(
  { client, config: { WATCH_NAMESPACES: watched } }: OtherScalersContext,
  resource: Resource<T>,
  labelSelector?: string,
): Promise<T[]> {
  // From the cache of the API server.
  const options = { resourceVersion: '0', ...(labelSelector !== undefined && { labelSelector }) };
  const places = watched.length === 0 ? [{}] : watched.map((namespace) => ({ namespace }));
  const lists = await Promise.all(places.map((place) => client.list(resource, { ...options, ...place })));
  return lists.flatMap(({ items }) => items);
}

/** The scalers of runner pools, by namespace. Pure. */
export function otherScalersOf(
  autoscalers: readonly HorizontalPodAutoscaler[],
  objects: readonly ScaledObject[],
): Map<string, OtherScalers> {
  const ofPools = autoscalers.filter(
    ({ spec }) => spec?.scaleTargetRef.kind === 'Deployment' && spec.scaleTargetRef.name === POOL,
  );
  const byNamespace = Map.groupBy(ofPools, ({ metadata }) => metadata.namespace ?? '');
  const failures = new Map(
    objects.flatMap(({ metadata, status }) => {
      const ready = findCondition(status?.conditions ?? [], 'Ready');
      const isOurs = metadata.name === POOL && ready?.status === 'False';
      return isOurs ? [[metadata.namespace ?? '', ready.message || ready.reason] as const] : [];
    }),
  );
  return new Map(
    [...new Set([...byNamespace.keys(), ...failures.keys()])].map((namespace) => {
      const failure = failures.get(namespace);
      const own = (byNamespace.get(namespace) ?? []).map(autoscalerOf);
      return [namespace, { autoscalers: own, ...(failure !== undefined && { failure }) }];
    }),
  );
}

function autoscalerOf({ metadata, status }: HorizontalPodAutoscaler): Autoscaler {
  const owner = metadata.ownerReferences?.find(({ kind }) => kind === 'ScaledObject')?.name;
  const failure = failureOf(status?.conditions ?? []);
  return {
    name: metadata.name,
    ...(owner !== undefined && { scaledObject: owner }),
    ...(failure !== undefined && { failure }),
  };
}

/** Why it does not scale, in its own words. One that is switched off on purpose has no failure. */
function failureOf(conditions: readonly Condition[]): string | undefined {
  const [able, active] = ['AbleToScale', 'ScalingActive'].map((type) => findCondition(conditions, type));
  const failed = [able, active].find((each) => each?.status === 'False' && each.reason !== 'ScalingDisabled');
  return failed && (failed.message || failed.reason);
}
