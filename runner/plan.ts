/**
 * A revision made ready to be executed: references and conditions are parsed once per process, edges looked
 * up once.
 */
import { compileCondition, type Condition } from '../api/cel.ts';
import { ExpressionError } from '../api/expression/errors.ts';
import type { Scope } from '../api/expression/scope.ts';
import { graphOf, predecessors, type Graph, type GraphEdge } from '../api/graph.ts';
import { StepError } from '../api/reasons.ts';
import type { Revision, RevisionStep, RevisionTrigger } from '../api/revision.ts';
import type { Effect } from '../nodes/node.ts';
import { effectOf } from '../nodes/register.ts';
import { compileFields, type StepFields } from '../nodes/step.ts';

/** `fields` gives the fields that may hold references or expressions, evaluated. */
type PlannedStep = { step: RevisionStep; fields: (scope: Scope) => StepFields; effect: Effect | 'None' };

export type Plan = {
  readonly trigger: RevisionTrigger;
  readonly graph: Graph;
  readonly steps: ReadonlyMap<string, PlannedStep>;
  readonly conditions: ReadonlyMap<GraphEdge, Condition>;
  readonly timeoutMs: number;
  /** Nodes whose outputs and messages nobody may read. */
  readonly sensitive: ReadonlySet<string>;
  /** Of a run that goes only as far as one node: that node, and those that may run. */
  readonly until?: { node: string; asked: ReadonlySet<string> };
};

/**
 * Parses all of a revision.
 * @throws StepError when something cannot be parsed, or asks for what this version does not execute. The
 *   operator makes no revision of such a workflow; one that an older or newer operator made may be so.
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
    steps: new Map(revision.steps.map((step) => [step.id, planStep(step)])),
    conditions: new Map(
      graph.edges.flatMap((edge) => (edge.when === undefined ? [] : [[edge, compileCondition(edge.when)]])),
    ),
    timeoutMs: revision.timeoutMs,
    sensitive: new Set(revision.sensitive),
  };
}

function planStep(step: RevisionStep): PlannedStep {
  if (step.forEach !== undefined)
    throw new StepError('InvalidParameters', `node ${step.id}: this version does not execute forEach`);
  if (step.kind === 'agent' && (step.agent.tools ?? []).length > 0) {
    throw new StepError('InvalidParameters', `node ${step.id}: this version does not execute tools`);
  }
  return { step, fields: compileFields(step), effect: effectOf(step) };
}

/**
 * The plan of a run that goes only as far as this node: edges lead to the node and its predecessors alone, so
 * that everything else is skipped, and a failure that a branch beyond would catch fails the run.
 * @throws StepError when there is no such node.
 */
export function planUntil(plan: Plan, node: string | undefined): Plan {
  if (node === undefined) return plan;
  const { nodes, edges } = plan.graph;
  if (!nodes.some(({ id }) => id === node)) {
    throw new StepError('NodeMissing', `the revision has no node ${node}, as far as which the run should go`);
  }
  const asked = predecessors(plan.graph, node).add(node);
  const graph = graphOf(
    nodes,
    edges.filter(({ to }) => asked.has(to)),
  );
  return { ...plan, graph, until: { node, asked } };
}

/** Plans by the name of their revision, which never changes. The oldest are forgotten beyond `limit`. */
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
