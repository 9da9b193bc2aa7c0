/** Checks that references and conditions can be parsed, and that they name nodes that come before. */
import { compileCondition, conditionReferences, valueReferences } from '../../../api/cel.ts';
import { ExpressionError } from '../../../api/expression/errors.ts';
import { printReference, type Reference } from '../../../api/expression/reference.ts';
import { compileValue, referencesOf } from '../../../api/expression/template.ts';
import { graphOf, predecessors, type Graph } from '../../../api/graph.ts';
import { revisionOf } from '../../../api/revision.ts';
import { isTriggerKind, kindOf, type WorkflowSpec } from '../../../api/workflow.ts';
import { nodesNamed } from '../../../nodes/skills/values.ts';
import { templatesOf, valuesOf } from '../../../nodes/step.ts';
import type { Check, Violation } from './check.ts';
import { memberProblems } from './members.ts';

/** Every `{{ … }}` of a step can be parsed and names a node that comes before it. */
export const referencesAreKnown: Check = (spec) => {
  const graph = graphOfSpec(spec);
  return revisionOf(spec).steps.flatMap((step) =>
    Object.entries(templatesOf(step)).flatMap(([field, value]) => {
      const place = `node ${step.id}: ${step.kind}.${field}`;
      return parsed(place, () =>
        referencesOf(compileValue(value)).flatMap((reference) => [
          ...checkReference(reference, step.id, place, graph),
          ...memberProblems(reference, place, spec),
        ]),
      );
    }),
  );
};

/** Every expression in the values of a step can be parsed and names nodes that come before it. */
export const valuesAreKnown: Check = (spec) => {
  const graph = graphOfSpec(spec);
  return revisionOf(spec).steps.flatMap((step) => {
    const place = `node ${step.id}: ${step.kind}.parameters`;
    return parsed(place, () => {
      const values = valuesOf(step);
      return (values ? nodesNamed(values) : []).flatMap(({ path, ids, reads }) => [
        ...ids.flatMap((id) => checkNode({ id, written: `nodes.${id}` }, step.id, `${place}.${path}`, graph)),
        ...reads.flatMap((read) => memberProblems(read, `${place}.${path}`, spec, true)),
      ]);
    });
  });
};

/** Every `when` of an edge can be parsed and names nodes that come before the edge's end. */
export const conditionsAreKnown: Check = (spec) => {
  const graph = graphOfSpec(spec);
  return (spec.edges ?? []).flatMap(({ from, to, when }) => {
    if (when === undefined) return [];
    const place = `edge ${from} → ${to}: when`;
    return parsed(place, () => {
      const condition = compileCondition(when);
      return [
        ...conditionReferences(condition).flatMap((id) =>
          checkNode({ id, written: `nodes.${id}` }, to, place, graph),
        ),
        ...valueReferences(condition).flatMap((read) => memberProblems(read, place, spec, true)),
      ];
    });
  });
};

export function graphOfSpec(spec: WorkflowSpec): Graph {
  const nodes = spec.nodes.map((node) => ({ id: node.id, trigger: isTriggerKind(kindOf(node)) }));
  return graphOf(nodes, spec.edges);
}

function parsed(place: string, check: () => Violation[]): Violation[] {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return [{ reason: 'InvalidExpression', message: `${place}: ${error.message}` }];
  }
}

function checkReference(reference: Reference, user: string, place: string, graph: Graph): Violation[] {
  const written = printReference(reference);
  if (reference.source === 'node') return checkNode({ id: reference.node, written }, user, place, graph);
  const message = `${place}: ${written} exists only in a node with forEach; refer to a node as $('<node id>')`;
  return [{ reason: 'InvalidExpression', message }];
}

/** Whether a node that `user` names comes before it. `written`: how the user names it. */
export function checkNode(
  named: { id: string; written: string },
  user: string,
  place: string,
  graph: Graph,
): Violation[] {
  const before = predecessors(graph, user);
  if (before.has(named.id)) return [];
  const exists = graph.nodes.some(({ id }) => id === named.id);
  const problem = exists ? `does not come before ${user}` : 'does not exist';
  const offered = graph.nodes.flatMap(({ id }) => (before.has(id) ? [id] : []));
  const remedy = exists ? `add an edge that leads from it to ${user}, or use one of` : 'use one of';
  const message = `${place}: ${named.written} names a node that ${problem}: ${remedy}: ${offered.join(', ') || '(none)'}`;
  return [{ reason: 'UnknownReference', message }];
}
