/**
 * Prepares revisions for execution: parses references and conditions and indexes edges, once per process.
 */
import { compileCondition, type Condition } from '../api/cel.ts';
import { ExpressionError } from '../api/expression/errors.ts';
import type { Scope } from '../api/expression/scope.ts';
import { graphOf, predecessors, type Graph, type GraphEdge } from '../api/graph.ts';
import { StepError } from '../api/reasons.ts';
import type { Revision, RevisionStep, RevisionTrigger } from '../api/revision.ts';
import type { Effect } from '../nodes/contract/node.ts';
import { effectOf } from '../nodes/register.ts';
import { compileFields, type StepFields } from '../nodes/step.ts';

/** `fields` evaluates the fields that may contain references or expressions. */
type PlannedStep = { step: RevisionStep; fields: (scope: Scope) => StepFields; effect: Effect | 'None' };

export type Plan = {
  readonly trigger: RevisionTrigger;
  readonly graph: Graph;
  readonly steps: ReadonlyMap<string, PlannedStep>;
  readonly conditions: ReadonlyMap<GraphEdge, Condition>;
  readonly timeoutMs: number;
  /** The sensitive nodes, whose outputs and messages are not recorded. */
  readonly sensitive: ReadonlySet<string>;
  /** For a test run with `until`: the last node, and the nodes that may run. */
  readonly until?: { node: string; asked: ReadonlySet<string> };
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
  const nodes = [
    { id: revision.trigger.id, trigger: true },
    ...revision.steps.map(({ id, onError }) => ({ id, trigger: false, onError })),
  ];
  const graph = graphOf(nodes, revision.edges);
  return {
    trigger: revision.trigger,
    graph,
    steps: new Map(revision.steps.map((step) => [step.id, planStep(step, graph)])),
    conditions: new Map(
      graph.edges.flatMap((edge) => (edge.when === undefined ? [] : [[edge, compileCondition(edge.when)]])),
    ),
    timeoutMs: revision.timeoutMs,
    sensitive: new Set(revision.sensitive),
  };
}

function planStep(step: RevisionStep, graph: Graph): PlannedStep {
  if (step.forEach !== undefined)
    throw new StepError('InvalidParameters', `node ${step.id}: this version does not execute forEach`);
  if (step.kind === 'agent' && (step.agent.tools ?? []).length > 0) {
    throw new StepError('InvalidParameters', `node ${step.id}: this version does not execute tools`);
  }
  const fields = compileFields(step);
  return {
    step,
    fields: step.kind === 'code' ? ofNodesBefore(fields, step.id, graph) : fields,
    effect: effectOf(step),
  };
}

/**
 * Code names nodes in ways that no check at apply finds: `const { a } = nodes`. Whether a node beside it has
 * ended depends on time, so that the code would compute something else when it is repeated.
 */
function ofNodesBefore(fields: PlannedStep['fields'], id: string, graph: Graph): PlannedStep['fields'] {
  const before = predecessors(graph, id);
  return (scope) =>
    fields({ ...scope, node: (named) => (before.has(named) ? scope.node(named) : undefined) });
}

/**
 * The plan of a test run that stops at this node: only edges to the node and its predecessors remain, so that
 * other nodes are skipped, and a failure that only a later node would handle fails the run.
 * @throws StepError if the node does not exist
 */
export function planUntil(plan: Plan, node: string | undefined): Plan {
  if (node === undefined) return plan;
  const { nodes, edges } = plan.graph;
  if (!nodes.some(({ id }) => id === node)) {
    throw new StepError('NodeMissing', `the revision has no node ${node}, at which the test run should stop`);
  }
  const asked = predecessors(plan.graph, node).add(node);
  const graph = graphOf(
    nodes,
    edges.filter(({ to }) => asked.has(to)),
  );
  return { ...plan, graph, until: { node, asked } };
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
