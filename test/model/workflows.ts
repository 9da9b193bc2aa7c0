/**
 * The workflows of a history: two, each started by the failures of the other, with a step that may be
 * repeated, one that must not be, one without an effect, one that is disabled, and a loop.
 */
import { API_VERSION } from '../../api/group.ts';
import type { Revision, RevisionStep } from '../../api/revision.ts';
import type { KubeObject } from '../../kube/resource.ts';
import type { FailureTarget, WorkflowLimits } from '../../runs/types/limits.ts';
import type { Submission } from '../../runs/types/submission.ts';

const skill = (id: string, name: string): RevisionStep => ({
  id,
  kind: 'skill',
  skill: { name, parameters: {} },
  timeoutMs: 60_000,
  retry: { limit: 1, initialMs: 1_000, factor: 2, maxMs: 60_000 },
  onError: 'Fail',
});

/** The step that is not executed. */
export const DISABLED_NODE = 'off';

export const REVISION: Revision = {
  trigger: { id: 'trigger', kind: 'webhook', testData: { text_content: '', data_content: {} } },
  steps: [
    skill('fetch', 'http_request'),
    skill('mail', 'send_email'),
    skill('note', 'http_request'),
    { ...skill(DISABLED_NODE, 'send_email'), disabled: true },
    { ...skill('each', 'http_request'), forEach: { items: '[1, 2]', maxParallel: 1, collect: 'Results' } },
  ],
  edges: [],
  timeoutMs: 3_600_000,
};

/** The steps that runners execute, in any order; beside them the items of the loop. */
export const NODES = [
  { id: 'fetch', atMostOnce: false },
  { id: 'mail', atMostOnce: true },
  { id: 'note', atMostOnce: false },
] as const;

export const WORKFLOWS = ['a', 'b'] as const;

/** The workflow that a failure of this one starts. */
export const afterFailureOf = (workflow: string) => (workflow === 'a' ? 'b' : 'a');

/** Whether runs of the workflow are plain (`ClaimRef.isPlain`): no items, signals or children. */
export const isPlain = (group: string) => group.startsWith(uidOf('b'));

export const uidOf = (workflow: string) => `uid-${workflow}`;
export const revisionOf = (workflow: string) => `${workflow}-1`;

/** The ControllerRevision of a workflow, by the name of the revision. */
export function revisionObject(name: string): KubeObject & { data: Revision } {
  const workflow = name.replace(/-1$/, '');
  const owner = {
    apiVersion: API_VERSION,
    kind: 'Workflow',
    name: workflow,
    uid: uidOf(workflow),
    controller: true,
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: { name, namespace: 'model', ownerReferences: [owner] },
    data: REVISION,
  };
}

/** What a history sets per workflow. */
export type Limits = { limit: number | undefined; policy: WorkflowLimits['policy']; suspended: boolean };

export const UNLIMITED: Limits = { limit: undefined, policy: 'Queue', suspended: false };

/**
 * As the operator gives them to the run store, with so short a history that some runs exceed it. One workflow
 * keeps none: each of its ends does.
 */
export function limitsOf(workflow: string, { limit, policy, suspended }: Limits): WorkflowLimits {
  return {
    workflowUid: uidOf(workflow),
    policy,
    suspended,
    deadlineMs: REVISION.timeoutMs,
    onFailure: targetOf(afterFailureOf(workflow)),
    history: workflow === 'a' ? { succeeded: 1, failed: 1 } : { succeeded: 0, failed: 0 },
    ...(limit !== undefined && { concurrency: limit }),
  };
}

function targetOf(workflow: string): Required<FailureTarget> {
  return { workflow, uid: uidOf(workflow), revision: revisionOf(workflow) };
}

/** An event of a workflow. */
export function eventOf(project: string, workflow: string, changes: Partial<Submission>): Submission {
  return {
    project,
    workflow,
    workflowUid: uidOf(workflow),
    revision: revisionOf(workflow),
    trigger: 'webhook',
    input: '{"text_content":"","data_content":{"item":"desk"}}',
    bodyHash: '',
    test: false,
    ...changes,
  };
}
