/**
 * Prepares revisions for execution: parses references and conditions and indexes edges, once per process.
 */
import { itemGraph, RUN_SCOPE, visibilityOf, type Visibility } from '../api/scopes.ts';
import { compileCondition, type Condition } from '../api/cel.ts';
import { ExpressionError } from '../api/expression/errors.ts';
import { evaluate } from '../api/expression/evaluate.ts';
import { type Scope, withMembers } from '../api/expression/scope.ts';
import { compileValue } from '../api/expression/template.ts';
import { graphOf, predecessors, type Graph, type GraphEdge } from '../api/graph.ts';
import { StepError } from '../api/reasons.ts';
import type { AgentMemoryFields } from '../api/step.ts';
import { scopedNodes, type Revision, type RevisionStep, type RevisionTrigger } from '../api/revision.ts';
import type { Effect } from '../nodes/contract/node.ts';
import { effectOf, hasEffectOnce, runsWorkflows } from '../nodes/register.ts';
import { compileFields, type StepFields } from '../nodes/step.ts';
import { type DataPolicy, planSent, type SentPlan } from './sentPlan.ts';

/** How a node is executed for each item, again, or as a group. Times are milliseconds. */
export type PlannedLoop = {
  /** Evaluates the items; left out for a node without forEach. */
  items?: (scope: Scope) => unknown;
  /** The items may depend on variables of the project. */
  readsVariables: boolean;
  maxParallel: number;
  batch: number;
  delayMs: number;
  repeat?: { until: Condition; limit: number; delayMs: number; initial: unknown; collects: boolean };
  /** Whether the results of the items are the output. */
  collects: boolean;
  /** What is executed for each item: the body of the group, or the node itself. */
  body: Graph;
};

/** `fields` evaluates the fields that may contain references or expressions. */
export type PlannedStep = {
  step: RevisionStep;
  fields: (scope: Scope) => StepFields;
  effect: Effect | 'None';
  /** The step, or a tool that it may call, has an effect that must not be repeated. */
  hasEffectOnce: boolean;
  /** It is an agent with tools. */
  hasTools: boolean;
  /** Of an agent with a memory. */
  memory?: AgentMemoryFields;
  /** How the record shows what the step sends. Left out: it does not. */
  sent?: SentPlan;
  loop?: PlannedLoop;
};

export type Plan = {
  readonly trigger: RevisionTrigger;
  /** The graph of the nodes outside of groups. */
  readonly graph: Graph;
  readonly steps: ReadonlyMap<string, PlannedStep>;
  readonly conditions: ReadonlyMap<GraphEdge, Condition>;
  readonly timeoutMs: number;
  /** The time zone of `$run`. */
  readonly timeZone: string;
  /** Whether a node waits for a callback. */
  readonly hasCallbacks: boolean;
  /** Whether runs can get signals: a node waits for a callback or starts a child run. */
  readonly hasSignals: boolean;
  /** Whether a step is an agent with tools. */
  readonly hasTools: boolean;
  /** Whether runs can have no items, calls, signals, children or memories. */
  readonly isPlain: boolean;
  /** Which runs keep their data in the record; left out: all. */
  readonly recordData?: Revision['recordData'];
  /** Of a chat: the step whose text is the reply of the run. */
  readonly answer?: string;
  /** The sensitive nodes, whose outputs and messages are not recorded. */
  readonly sensitive: ReadonlySet<string>;
  /**
   * For a test run with `until`: the last node, the nodes that may run, and the groups around the last node,
   * which execute one item once.
   */
  readonly until?: { node: string; asked: ReadonlySet<string>; around: ReadonlySet<string> };
};

/**
 * Parses a revision.
 * @throws StepError if it is invalid or needs a newer version. The operator creates no such revisions, but an
 *   older or newer operator may have.
 */
export function planOf(revision: Revision): Plan {
  try {
    return parsePlan(revision);
  } catch (error) {
    throw error instanceof ExpressionError
      ? new StepError('InvalidParameters', error.message, { cause: error })
      : error;
  }
}

function parsePlan(revision: Revision): Plan {
  const visible = visibilityOf(scopedNodes(revision), revision.edges);
  const { graphs } = visible;
  const all = [...graphs.values()].flatMap(({ edges }) => edges);
  const sensitive = new Set(revision.sensitive);
  const policy = { recordData: revision.recordData, sensitive };
  const hasCallbacks = revision.steps.some((step) => step.kind === 'wait' && step.wait.callback);
  return {
    trigger: revision.trigger,
    graph: graphs.get(RUN_SCOPE) ?? graphOf([]),
    steps: new Map(
      revision.steps.map((step) => [step.id, planStep(step, graphs.get(step.id), visible, policy)]),
    ),
    conditions: new Map(
      all.flatMap((edge) => (edge.when === undefined ? [] : [[edge, compileCondition(edge.when)]])),
    ),
    timeoutMs: revision.timeoutMs,
    timeZone: revision.timeZone ?? 'UTC',
    hasCallbacks,
    hasSignals: hasCallbacks || revision.steps.some(runsWorkflows),
    hasTools: revision.steps.some(hasTools),
    isPlain: !hasCallbacks && revision.steps.every(isPlain),
    ...(revision.answer !== undefined && { answer: revision.answer }),
    sensitive,
    ...(revision.recordData && { recordData: revision.recordData }),
  };
}

/** `body`: that of a group. */
function planStep(
  step: RevisionStep,
  body: Graph | undefined,
  visible: Visibility,
  policy: DataPolicy,
): PlannedStep {
  const loop = loopOf(step, body);
  const sent = planSent(step, policy);
  const fields = compileFields(step);
  return {
    step,
    fields: step.kind === 'code' ? ofNodesBefore(fields, new Set(namedByCode(step.id, visible))) : fields,
    effect: effectOf(step),
    hasEffectOnce: hasEffectOnce(step),
    hasTools: hasTools(step),
    ...(step.kind === 'agent' && step.agent.memory && { memory: step.agent.memory }),
    ...(sent && { sent }),
    ...(loop && { loop }),
  };
}

function isPlain({ kind, forEach, repeat }: RevisionStep): boolean {
  return !['agent', 'group', 'workflow'].includes(kind) && !forEach && !repeat;
}

function hasTools(step: RevisionStep): boolean {
  return step.kind === 'agent' && (step.agent.tools ?? []).length > 0;
}

/** The nodes before, the groups around, and the execution before of a node with repeat. */
function namedByCode(id: string, visible: Visibility): string[] {
  const own = itemGraph(id).nodes.flatMap((node) => (node.trigger ? [node.id] : []));
  return [...visible.before(id), ...visible.groupsAround(id), ...own];
}

/**
 * Code names nodes in ways that no check at apply finds: `const { a } = nodes`. Whether a node beside it has
 * ended depends on time, so that the code would compute something else when it is repeated.
 */
function ofNodesBefore(fields: PlannedStep['fields'], before: ReadonlySet<string>): PlannedStep['fields'] {
  return (scope) =>
    fields(withMembers(scope, { node: (named) => (before.has(named) ? scope.node(named) : undefined) }));
}

/** `body`: that of a group. */
function loopOf(step: RevisionStep, body: Graph | undefined): PlannedLoop | undefined {
  const { forEach, repeat } = step;
  if (!forEach && !repeat && !body) return undefined;
  return {
    ...itemsOf(forEach),
    maxParallel: forEach?.maxParallel ?? 1,
    batch: forEach?.batch ?? 1,
    delayMs: forEach?.delayMs ?? 0,
    ...(repeat && {
      repeat: {
        until: compileCondition(repeat.until),
        limit: repeat.limit,
        delayMs: repeat.delayMs,
        initial: repeat.initial,
        collects: repeat.collect === 'Results',
      },
    }),
    collects: forEach?.collect !== 'None',
    body: body ?? itemGraph(step.id),
  };
}

function itemsOf(forEach: RevisionStep['forEach']): Pick<PlannedLoop, 'items' | 'readsVariables'> {
  if (!forEach) return { readsVariables: false };
  const items = compileValue(forEach.items);
  return {
    items: (scope) => evaluate(items, scope),
    // Also true for a text that looks like a reference to one.
    readsVariables: JSON.stringify(forEach.items).includes('$vars'),
  };
}

/**
 * The plan of a test run that stops at this node: only edges to the node and its predecessors remain, so that
 * other nodes are skipped, and a failure that only a later node would handle fails the run. Of a node in a
 * group, the first item is executed once.
 * @throws StepError if the node does not exist
 */
export function planUntil(plan: Plan, node: string | undefined): Plan {
  if (node === undefined) return plan;
  const path = pathTo(plan, node);
  if (!path) {
    throw new StepError('NodeMissing', `the revision has no node ${node}, at which the test run should stop`);
  }
  const asked = new Set<string>();
  const graphs = path.map(({ graph, id }) => restricted(graph, id, asked));
  const steps = new Map(plan.steps);
  for (const [depth, { group }] of path.entries()) {
    const planned = steps.get(group);
    const body = graphs[depth];
    if (planned?.loop && body) steps.set(group, { ...planned, loop: { ...planned.loop, body } });
  }
  const around = new Set(path.map(({ group }) => group));
  return { ...plan, graph: graphs[0] ?? plan.graph, steps, until: { node, asked, around } };
}

/** Whether the node or a node of its body has an effect that must not be repeated. */
export function hasAtMostOnceEffect(plan: Plan, id: string): boolean {
  const planned = plan.steps.get(id);
  if (planned?.hasEffectOnce) return true;
  if (planned?.step.kind !== 'group') return false;
  return (planned.loop?.body.nodes ?? []).some((node) => !node.trigger && hasAtMostOnceEffect(plan, node.id));
}

type PathStep = { group: string; graph: Graph; id: string };

/** The scopes that lead to a node, the run first: the graph of each, and the node of it that leads there. */
function pathTo(plan: Plan, node: string): PathStep[] | undefined {
  const found = (group: string, graph: Graph): PathStep[] | undefined => {
    for (const { id, trigger } of graph.nodes) {
      if (id === node && !(trigger && group !== RUN_SCOPE)) return [{ group, graph, id }];
      const planned = trigger ? undefined : plan.steps.get(id);
      const inner = planned?.step.kind === 'group' && planned.loop && found(id, planned.loop.body);
      if (inner) return [{ group, graph, id }, ...inner];
    }
    return undefined;
  };
  return found(RUN_SCOPE, plan.graph);
}

/** The graph with only the edges that lead to the node, all of whose nodes are added to `asked`. */
function restricted({ nodes, edges }: Graph, id: string, asked: Set<string>): Graph {
  const own = predecessors(graphOf(nodes, edges), id).add(id);
  for (const node of own) asked.add(node);
  return graphOf(
    nodes,
    edges.filter(({ to }) => own.has(to)),
  );
}

/** A cache of plans by revision name; revisions are immutable. Drops the oldest plan beyond `limit`. */
export function createPlanCache(limit = 200): {
  get(name: string): Plan | undefined;
  put(name: string, revision: Revision): Plan;
} {
  const plans = new Map<string, Plan>();
  return {
    get: (name) => plans.get(name),
    put: (name, revision) => {
      const plan = planOf(revision);
      const [oldest] = plans.keys();
      if (plans.size >= limit && oldest !== undefined) plans.delete(oldest);
      plans.set(name, plan);
      return plan;
    },
  };
}
