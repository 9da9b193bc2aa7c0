/**
 * A revision: the part of a workflow's spec that a run executes, with every default filled in. It is
 * immutable.
 */
import { chatAnswerOf } from './chatAnswer.ts';
import { withoutDisabled } from './disabled.ts';
import { scopeGraphs, type ScopedNode } from './scopes.ts';
import { boundedDuration, DURATION_BOUNDS, type DurationBounds } from './duration.ts';
import { isTriggerKind, kindOf, type WorkflowNode, type WorkflowSpec } from './workflow.ts';
import type {
  AgentStep,
  FailStep,
  ResponseStep,
  SkillStep,
  StepKind,
  CodeStep,
  WaitStep,
  WorkflowStep,
} from './step.ts';
import type { TriggerKind } from './triggerKinds.ts';
import type { NodeOutput } from './value.ts';

/** `inputSchema`: the JSON Schema of its data_content; left out if it has none. */
export type RevisionTrigger = {
  id: string;
  kind: TriggerKind;
  testData: NodeOutput;
  inputSchema?: Record<string, unknown>;
};

export type RetryPolicy = { limit: number; initialMs: number; factor: number; maxMs: number };

/** `batch` and `delayMs` are left out if not set. */
type ForEach = {
  items: string;
  maxParallel: number;
  batch?: number;
  delayMs?: number;
  collect: 'Results' | 'None';
};

type Repeat = {
  until: string;
  limit: number;
  delayMs: number;
  initial: unknown;
  collect: 'Results' | 'None';
};

type StepBase = {
  id: string;
  /** 0: none. */
  timeoutMs: number;
  retry: RetryPolicy;
  onError: 'Fail' | 'Continue';
  /** The ID of the group whose body the step belongs to. */
  within?: string;
  forEach?: ForEach;
  repeat?: Repeat;
  effect?: 'AtLeastOnce' | 'AtMostOnce';
  /** The step is not executed. */
  disabled?: true;
};

export type RevisionStep = StepBase &
  (
    | { kind: 'agent'; agent: AgentStep }
    | { kind: 'skill'; skill: SkillStep }
    | { kind: 'response'; response: ResponseStep }
    | { kind: 'group'; group: Record<string, never> }
    | { kind: 'wait'; wait: WaitStep }
    | { kind: 'workflow'; workflow: WorkflowStep }
    | { kind: 'fail'; fail: FailStep }
    | { kind: 'code'; code: CodeStep }
  );

type RevisionEdge = { from: string; to: string; when?: string; after: 'Success' | 'Failure' };

export type Revision = {
  trigger: RevisionTrigger;
  steps: RevisionStep[];
  edges: RevisionEdge[];
  timeoutMs: number;
  /** The time zone of `$run`; left out: UTC. */
  timeZone?: string;
  /** Which runs keep their data in the record; left out: all. */
  recordData?: 'Errors' | 'None';
  /** The IDs of sensitive nodes; left out: none. */
  sensitive?: string[];
  /** Of a chat: the ID of the step whose text is the reply of the run; left out: none. */
  answer?: string;
};

const MINUTE = 60_000;
/** That of code includes its wait for a thread of the sandbox; `code.timeout` limits its execution. */
const STEP_TIMEOUT_MS: Record<StepKind, number> = {
  agent: 10 * MINUTE,
  skill: MINUTE,
  response: MINUTE,
  // No timeout of its own: that of the run applies.
  group: 0,
  wait: 0,
  // The child run has a timeout of its own.
  workflow: 0,
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

function forEachOf({
  items,
  maxParallel = 1,
  batch,
  delay,
  collect = 'Results',
}: NonNullable<WorkflowNode['forEach']>): ForEach {
  return {
    items,
    maxParallel,
    collect,
    ...(batch !== undefined && { batch }),
    ...(delay !== undefined && { delayMs: boundedDuration(delay, DURATION_BOUNDS.itemDelay) }),
  };
}

function repeatOf({
  until,
  limit,
  delay,
  initial = null,
  collect = 'None',
}: NonNullable<WorkflowNode['repeat']>): Repeat {
  return { until, limit, delayMs: milliseconds(delay, DURATION_BOUNDS.itemDelay, 0), initial, collect };
}

function stepOf(node: WorkflowNode): RevisionStep {
  const kind = kindOf(node) as StepKind;
  const base: StepBase = {
    id: node.id,
    timeoutMs: milliseconds(node.timeout, DURATION_BOUNDS.stepTimeout, STEP_TIMEOUT_MS[kind]),
    retry: retryOf(node),
    onError: node.onError ?? 'Fail',
    ...(node.within ? { within: node.within } : {}),
    ...(node.forEach ? { forEach: forEachOf(node.forEach) } : {}),
    ...(node.repeat ? { repeat: repeatOf(node.repeat) } : {}),
    ...(node.effect ? { effect: node.effect } : {}),
    ...(node.disabled ? { disabled: true as const } : {}),
  };
  return { ...base, kind, [kind]: node[kind] } as RevisionStep;
}

function triggerOf(node: WorkflowNode): RevisionTrigger {
  const kind = kindOf(node) as TriggerKind;
  const testData = node[kind]?.testData;
  if (kind === 'manual') {
    const { inputSchema } = node.manual ?? {};
    const ofTest = { text_content: '', data_content: testData ?? {} };
    return { id: node.id, kind, testData: ofTest, ...(inputSchema && { inputSchema }) };
  }
  const { text_content = '', data_content = {} } = (testData ?? {}) as Partial<NodeOutput>;
  return { id: node.id, kind, testData: { text_content, data_content } };
}

/** The edges of the spec; of each scope without edges, the chain of its nodes in the order of the list. */
function edgesOf(spec: WorkflowSpec): RevisionEdge[] {
  const written = new Set<unknown>(spec.edges ?? []);
  const derived = [...scopeGraphs(scopedNodesOfSpec(spec), spec.edges)].flatMap(([scope, { edges }]) =>
    edges.filter((edge) => edge.from !== scope && !written.has(edge)),
  );
  return [...(spec.edges ?? []), ...derived].map((edge) => ({ ...edge, after: edge.after ?? 'Success' }));
}

/** The revision of a spec that the API server has validated. Of a disabled step it has only the ID. */
export function revisionOf(given: WorkflowSpec): Revision {
  const spec = withoutDisabled(given);
  const trigger = spec.nodes.find((node) => isTriggerKind(kindOf(node)));
  if (!trigger) throw new Error('the workflow has no trigger, which the CRD refuses');
  const { recordData = 'All' } = spec;
  const sensitive = spec.nodes.filter((node) => node.sensitive).map(({ id }) => id);
  const answer = chatAnswerOf(spec, scopedNodesOfSpec(spec));
  return {
    trigger: triggerOf(trigger),
    steps: spec.nodes.filter((node) => node !== trigger).map(stepOf),
    edges: edgesOf(spec),
    timeoutMs: milliseconds(spec.timeout, DURATION_BOUNDS.runTimeout, RUN_TIMEOUT_MS),
    // Left out if they are the defaults, so that revisions of existing workflows keep their names.
    ...(spec.timeZone !== undefined && { timeZone: spec.timeZone }),
    ...(recordData !== 'All' && { recordData }),
    ...(sensitive.length > 0 && { sensitive }),
    ...(answer?.kind === 'text' && { answer: answer.node }),
  };
}

/** The nodes of the spec, with the groups that they belong to. */
export function scopedNodesOfSpec({ nodes }: Pick<WorkflowSpec, 'nodes'>): ScopedNode[] {
  return nodes.map((node) => ({
    id: node.id,
    trigger: isTriggerKind(kindOf(node)),
    within: node.within,
    group: node.group !== undefined,
    ...(node.disabled && { disabled: true }),
  }));
}

/** The nodes of the revision, with the groups that they belong to. */
export function scopedNodes({ trigger, steps }: Pick<Revision, 'trigger' | 'steps'>): ScopedNode[] {
  return [
    { id: trigger.id, trigger: true },
    ...steps.map(({ id, onError, within, kind, disabled }) => ({
      id,
      trigger: false,
      onError,
      within,
      group: kind === 'group',
      ...(disabled && { disabled }),
    })),
  ];
}

/** Whether the revision has a response node, so that the caller of a webhook waits for the reply. */
export function replies(revision: Revision): boolean {
  return revision.steps.some((step) => step.kind === 'response');
}

/** Whether the revision has a node with this ID. */
export function hasNode({ trigger, steps }: Revision, id: string): boolean {
  return trigger.id === id || steps.some((step) => step.id === id);
}
