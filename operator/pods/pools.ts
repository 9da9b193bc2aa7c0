/**
 * What the operator knows of runner pools beside their objects, by namespace. The project controller writes
 * it; credentials, registrations, workflows and settings are decided from it.
 */
import type { Reason } from '../../api/conditions.ts';
import type { Change } from '../../kube/cache.ts';
import type { Deployment } from '../../kube/resource.ts';
import { createNotifier, type Notifier } from '../shared/notifier.ts';
import type { PodProblem } from './rollout.ts';

/** Why the API server refuses an object of a pool: the operator may not write it, or it is invalid. */
export type PoolRefusal = { reason: Extract<Reason, 'Unauthorized' | 'PoolInvalid'>; message: string };

/** The settings with which the objects of a pool were applied last. */
export type AppliedSettings = {
  uid: string | undefined;
  generation: number | undefined;
  /** Why the API server refuses pods with them. */
  refused?: string;
  /** Why the operator cannot write the pool, whatever the settings say. */
  blocked?: PoolRefusal;
};

export type Pools = {
  /** Why the API server refuses an object of the pool. */
  refusals: Map<string, PoolRefusal>;
  /** The Secrets that the runners' Role names, as this process applied it last. */
  grantedSecrets: Map<string, readonly string[]>;
  /** Why a pod of a pool that has not rolled out is not ready. */
  podProblems: Map<string, PodProblem>;
  /** The ProjectSettings with which the pool was applied last. */
  appliedSettings: Map<string, AppliedSettings>;
  /**
   * Notifies of a namespace whose pool was refused or accepted, whose runners may read other Secrets, or
   * whose pods have another problem.
   */
  accessChanged: Notifier<string>;
  /** Notifies of a namespace whose pool has other settings, or is refused with them. */
  settingsChanged: Notifier<string>;
};

export function createPools(): Pools {
  return {
    refusals: new Map(),
    grantedSecrets: new Map(),
    podProblems: new Map(),
    appliedSettings: new Map(),
    accessChanged: createNotifier(),
    settingsChanged: createNotifier(),
  };
}

/** Whether the Deployment of a pool has an available pod. */
export function hasRunner(pool: Deployment | undefined): boolean {
  return (pool?.status?.availableReplicas ?? 0) > 0;
}

/** Whether a pool has runners now and had none before, or the other way round. */
export function changesAvailability(change: Change<Deployment>): boolean {
  return change.type !== 'updated' || hasRunner(change.old) !== hasRunner(change.object);
}
