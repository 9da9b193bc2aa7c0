/** How far the activation of a workflow is: what is in effect, what is awaited, what holds it up. Pure. */
import { DEPENDENTS, NEEDS_ACTION, type ConditionType } from '../../../api/conditions.ts';
import type { Condition } from '../../credentials/ready.ts';
import type { WorkflowObject } from '../../kube/resources.ts';

export type Activation = {
  /**
   * `settling`: it is on its way, one way or the other. `stuck`: nothing goes on until somebody acts. `suspended`: every run is
   * refused.
   */
  kind: 'off' | 'suspended' | 'settling' | 'on' | 'stuck';
  /** In a few words. */
  word: string;
  /** What is awaited or wrong, in a sentence. */
  awaited?: string;
  /** What the operator says of it. */
  message?: string;
};

const AWAITED: Partial<Record<ConditionType, string>> = {
  Valid: 'The workflow must make sense together with what it refers to.',
  CredentialsReady: 'All its credentials must work.',
  PoolReady: 'A runner must be ready.',
  Scheduled: 'The clock (a CronJob) must be in place.',
  TriggerHealthy: 'A poll of the account of the trigger must succeed.',
  Routed: 'Every gateway must serve it.',
};

type Looked = Pick<WorkflowObject, 'metadata' | 'spec' | 'status'>;

/** The state of the workflow as it is saved. */
export function activationOf({ metadata, spec, status }: Looked): Activation {
  const conditions: readonly Condition[] = status?.conditions ?? [];
  const ready = conditions.find(({ type }) => type === 'Ready');
  if (ready === undefined || !isLookedAt(ready, metadata.generation))
    return { kind: 'settling', word: goingWord(spec), awaited: 'The operator has not processed it yet.' };
  if (ready.status !== 'True') return unready(conditions, ready, spec);
  if (spec.suspend) return { kind: 'suspended', word: 'Suspended', message: ready.message };
  return spec.active
    ? { kind: 'on', word: 'Active', message: ready.message }
    : { kind: 'off', word: 'Inactive' };
}

function isLookedAt({ reason, observedGeneration }: Condition, generation: number | undefined): boolean {
  return reason !== 'Pending' && (observedGeneration === undefined || observedGeneration === generation);
}

type Switches = Pick<WorkflowObject['spec'], 'active' | 'suspend'>;

function goingWord({ active, suspend }: Switches): string {
  if (suspend) return 'Suspending';
  return active ? 'Activating' : 'Deactivating';
}

function unready(conditions: readonly Condition[], ready: Condition, switches: Switches): Activation {
  const type = DEPENDENTS.find((each) =>
    conditions.some((condition) => condition.type === each && condition.status !== 'True'),
  );
  const missing = conditions.find((condition) => condition.type === type) ?? ready;
  const awaited = (type && AWAITED[type]) ?? 'It must come into effect everywhere.';
  const isStalled = conditions.some(
    (condition) => condition.type === 'Stalled' && condition.status === 'True',
  );
  const isStuck = isStalled || (ready.status === 'False' && NEEDS_ACTION.has(ready.reason));
  const [kind, word] = isStuck
    ? (['stuck', switches.suspend === true ? 'Suspended, needs care' : 'Needs care'] as const)
    : (['settling', goingWord(switches)] as const);
  return { kind, word, awaited, message: missing.message };
}
