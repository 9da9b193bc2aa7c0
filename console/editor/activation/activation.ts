/** The progress of a workflow's activation, and what its trigger does when active. Pure. */
import { DEPENDENTS, NEEDS_ACTION, type ConditionType } from '../../../api/conditions.ts';
import { keptRevisionIn } from '../../../api/keptRevision.ts';
import type { Condition } from '../../credentials/state.ts';
import type { WorkflowObject } from '../../kube/resources.ts';
import type { TriggerKind } from '../../../api/triggerKinds.ts';
import { conditionText } from '../../workflows/conditionText.ts';
import { NOT_LIVE } from '../../workflows/items.ts';

export type Activation = {
  /**
   * `settling`: a change is taking effect. `stuck`: someone must act. `behind`: so they must, and an earlier
   * version is live until then. `suspended`: every run is refused.
   */
  kind: 'off' | 'suspended' | 'settling' | 'on' | 'stuck' | 'behind';
  word: string;
  /** What is awaited or wrong, in a sentence. */
  awaited?: string;
  /** The message of the operator. */
  message?: string;
};

const AWAITED: Partial<Record<ConditionType, string>> = {
  Valid: 'Something the workflow refers to is missing or invalid.',
  CredentialsReady: 'Not all its credentials work.',
  PoolReady: 'No runner is ready yet.',
  Scheduled: 'The CronJob of the schedule is not ready yet.',
  TriggerHealthy: 'Polling the account of the trigger has not succeeded yet.',
  Routed: 'Not every gateway serves it yet.',
};

/**
 * How manifests resume the workflow, as `operator/workflow/conditions/conditions.ts` writes it; a test
 * compares them. In the console the button *Resume* is beside the message.
 */
const RESUME_BY_MANIFEST = / Set spec\.suspend to false to resume it\.$/;

type WorkflowParts = Pick<WorkflowObject, 'metadata' | 'spec' | 'status'>;

/** The state of the published workflow. */
export function activationOf({ metadata, spec, status }: WorkflowParts): Activation {
  const conditions: readonly Condition[] = status?.conditions ?? [];
  const ready = conditions.find(({ type }) => type === 'Ready');
  if (ready === undefined || !isObserved(ready, metadata.generation))
    return {
      kind: 'settling',
      word: transitionLabel(spec, conditions),
      awaited: 'The operator has not processed it yet.',
    };
  if (ready.status !== 'True') return unready(conditions, ready, spec);
  if (spec.suspend)
    return { kind: 'suspended', word: 'Suspended', message: ready.message.replace(RESUME_BY_MANIFEST, '') };
  return spec.active
    ? { kind: 'on', word: 'Active', message: ready.message }
    : { kind: 'off', word: 'Inactive' };
}

function isObserved({ reason, observedGeneration }: Condition, generation: number | undefined): boolean {
  return reason !== 'Pending' && (observedGeneration === undefined || observedGeneration === generation);
}

type Switches = { active: boolean; suspend?: boolean | undefined };

/** Only a workflow whose events start runs becomes inactive, and only another one becomes active. */
function transitionLabel({ active, suspend }: Switches, conditions: readonly Condition[]): string {
  if (suspend) return 'Suspending';
  const isLive = conditions.some(({ type, status }) => type === 'Active' && status === 'True');
  if (active === isLive) return 'Taking effect';
  return active ? 'Activating' : 'Deactivating';
}

function unready(
  conditions: readonly Condition[],
  ready: Condition,
  spec: WorkflowObject['spec'],
): Activation {
  const type = DEPENDENTS.find((each) =>
    conditions.some((condition) => condition.type === each && condition.status !== 'True'),
  );
  const missing = conditions.find((condition) => condition.type === type) ?? ready;
  const message = conditionText(missing.message, spec.nodes);
  const kept = keptRevisionIn(ready.message);
  if (kept !== undefined)
    return {
      kind: 'behind',
      word: NOT_LIVE,
      awaited: `Events start runs of the earlier version ${kept}. Correct the published version to make it live.`,
      message,
    };
  const awaited = (type && AWAITED[type]) ?? 'The change is not in effect everywhere yet.';
  const isStalled = conditions.some(
    (condition) => condition.type === 'Stalled' && condition.status === 'True',
  );
  const isStuck = isStalled || (ready.status === 'False' && NEEDS_ACTION.has(ready.reason));
  const [kind, word] = isStuck
    ? (['stuck', spec.suspend === true ? 'Suspended, needs attention' : 'Needs attention'] as const)
    : (['settling', transitionLabel(spec, conditions)] as const);
  return { kind, word, awaited, message };
}

/** Something that has to hold before the published version is live. */
export type Proof = { label: string; state: 'proven' | 'awaited' | 'failed' };

const PROOFS: Partial<Record<ConditionType, string>> = {
  Valid: 'Valid',
  CredentialsReady: 'Credentials work',
  PoolReady: 'Ready to run',
  Scheduled: 'Schedule created',
  TriggerHealthy: 'Account of the trigger works',
  Routed: 'URL responds',
};

/** What has to hold, in the order in which problems are shown. What the operator has not seen is awaited. */
export function proofsOf({ metadata, status }: Pick<WorkflowParts, 'metadata' | 'status'>): Proof[] {
  const conditions: readonly Condition[] = status?.conditions ?? [];
  const stalled = conditions.find(({ type, status: is }) => type === 'Stalled' && is === 'True');
  const stateOf = (condition: Condition): Proof['state'] => {
    if (!isObserved(condition, metadata.generation)) return 'awaited';
    if (condition.status === 'True') return 'proven';
    const isFailed = NEEDS_ACTION.has(condition.reason) || condition.reason === stalled?.reason;
    return condition.status === 'False' && isFailed ? 'failed' : 'awaited';
  };
  return DEPENDENTS.flatMap((type) => {
    const [condition, label] = [conditions.find((each) => each.type === type), PROOFS[type]];
    return condition === undefined || label === undefined ? [] : [{ label, state: stateOf(condition) }];
  });
}

const WHEN_ACTIVE: Record<TriggerKind, string> = {
  manual: 'people and programs start runs.',
  webhook: 'each POST request with JSON to its URL starts a run.',
  schedule: 'a run starts at each of these times.',
  mail: 'the mailbox is polled. Each new email starts a run.',
  spreadsheet: 'the spreadsheet is polled. Rows that change start runs.',
  fileStorage: 'the folder is polled. Files that are added or changed start runs.',
  bot: 'messages to the bot start runs.',
  chat: 'each message on its chat page starts a run.',
};

export function isTriggerKind(kind: string): kind is TriggerKind {
  return kind in WHEN_ACTIVE;
}

/** What the trigger does once it starts runs, and what must happen first. */
export function triggerDescription(kind: TriggerKind, { active, suspend }: Switches): string {
  if (suspend === true) return `After you resume${active ? '' : ' and activate'} it: ${WHEN_ACTIVE[kind]}`;
  const meanwhile = kind === 'manual' ? ' While inactive, only test runs are possible.' : '';
  return `When active: ${WHEN_ACTIVE[kind]}${meanwhile}`;
}
