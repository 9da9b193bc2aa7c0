/**
 * A revision: the part of a workflow's spec that a run executes, with every default filled in. It is
 * immutable.
 */
import { boundedDuration, DURATION_BOUNDS, type DurationBounds } from './duration.ts';
import {
  isTriggerKind,
  kindOf,
  type WorkflowEdge,
  type WorkflowNode,
  type WorkflowSpec,
} from './workflow.ts';
import type { AgentStep, FailStep, ResponseStep, SkillStep, StepKind, CodeStep } from './step.ts';
import type { TriggerKind } from './trigger.ts';
import type { NodeOutput } from './value.ts';

export type RevisionTrigger = { id: string; kind: TriggerKind; testData: NodeOutput };

export type RetryPolicy = { limit: number; initialMs: number; factor: number; maxMs: number };

type StepBase = {
  id: string;
  timeoutMs: number;
  retry: RetryPolicy;
  onError: 'Fail' | 'Continue';
  forEach?: string;
  effect?: 'AtLeastOnce' | 'AtMostOnce';
};

export type RevisionStep = StepBase &
  (
    | { kind: 'agent'; agent: AgentStep }
    | { kind: 'skill'; skill: SkillStep }
    | { kind: 'response'; response: ResponseStep }
    | { kind: 'fail'; fail: FailStep }
    | { kind: 'code'; code: CodeStep }
  );

type RevisionEdge = { from: string; to: string; when?: string; after: 'Success' | 'Failure' };

export type Revision = {
  trigger: RevisionTrigger;
  steps: RevisionStep[];
  edges: RevisionEdge[];
  timeoutMs: number;
  /** Which runs keep their data in the record; left out: all. */
  recordData?: 'Errors' | 'None';
  /** The IDs of sensitive nodes; left out: none. */
  sensitive?: string[];
};

const MINUTE = 60_000;
/** That of code includes its wait for a thread of the sandbox; `code.timeout` limits its execution. */
const STEP_TIMEOUT_MS: Record<StepKind, number> = {
  agent: 10 * MINUTE,
  skill: MINUTE,
  response: MINUTE,
  fail: MINUTE,
  code: 10 * MINUTE,
};
const RUN_TIMEOUT_MS = 60 * MINUTE;

const milliseconds = (text: string | undefined, bounds: DurationBounds, fallback: number) =>
  text === undefined ? fallback : boundedDuration(text, bounds);

function retryOf(node: WorkflowNode): RetryPolicy {
  const { limit = 0, backoff = {} } = node.retry ?? {};
  return {
    limit,
    initialMs: milliseconds(backoff.initial, DURATION_BOUNDS.backoff, 1000),
    factor: backoff.factor ?? 2,
    maxMs: milliseconds(backoff.max, DURATION_BOUNDS.backoff, MINUTE),
  };
}

function stepOf(node: WorkflowNode): RevisionStep {
  const kind = kindOf(node) as StepKind;
  const base: StepBase = {
    id: node.id,
    timeoutMs: milliseconds(node.timeout, DURATION_BOUNDS.stepTimeout, STEP_TIMEOUT_MS[kind]),
    retry: retryOf(node),
    onError: node.onError ?? 'Fail',
    ...(node.forEach ? { forEach: node.forEach } : {}),
    ...(node.effect ? { effect: node.effect } : {}),
  };
  return { ...base, kind, [kind]: node[kind] } as RevisionStep;
}

function triggerOf(node: WorkflowNode): RevisionTrigger {
  const kind = kindOf(node) as TriggerKind;
  const testData = node[kind]?.testData;
  if (kind === 'manual')
    return { id: node.id, kind, testData: { text_content: '', data_content: testData ?? {} } };
  const { text_content = '', data_content = {} } = (testData ?? {}) as Partial<NodeOutput>;
  return { id: node.id, kind, testData: { text_content, data_content } };
}

/** The edges of the spec, or a chain in the order of the nodes if it has none. */
function edgesOf(spec: WorkflowSpec): RevisionEdge[] {
  const chain: WorkflowEdge[] = spec.nodes
    .slice(1)
    .map((node, index) => ({ from: spec.nodes[index]?.id ?? '', to: node.id }));
  return (spec.edges ?? chain).map((edge) => ({ ...edge, after: edge.after ?? 'Success' }));
}

/** The revision of a spec that the API server has validated. */
export function revisionOf(spec: WorkflowSpec): Revision {
  const trigger = spec.nodes.find((node) => isTriggerKind(kindOf(node)));
  if (!trigger) throw new Error('the workflow has no trigger, which the CRD refuses');
  const { recordData = 'All' } = spec;
  const sensitive = spec.nodes.filter((node) => node.sensitive).map(({ id }) => id);
  return {
    trigger: triggerOf(trigger),
    steps: spec.nodes.filter((node) => node !== trigger).map(stepOf),
    edges: edgesOf(spec),
    timeoutMs: milliseconds(spec.timeout, DURATION_BOUNDS.runTimeout, RUN_TIMEOUT_MS),
    // Left out if they are the defaults, so that revisions of existing workflows keep their names.
    ...(recordData !== 'All' && { recordData }),
    ...(sensitive.length > 0 && { sensitive }),
  };
}

/** Whether the revision has a response node, so that the caller of a webhook waits for the reply. */
export function replies(revision: Revision): boolean {
  return revision.steps.some((step) => step.kind === 'response');
}

/** Whether the revision has a node with this ID. */
export function hasNode({ trigger, steps }: Revision, id: string): boolean {
  return trigger.id === id || steps.some((step) => step.id === id);
}
