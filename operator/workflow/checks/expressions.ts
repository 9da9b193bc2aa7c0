/** Checks that references and conditions can be parsed, and that they name nodes that come before. */
import { compileCondition, conditionReferences, valueReferences } from '../../../api/cel.ts';
import { ExpressionError } from '../../../api/expression/errors.ts';
import {
  printReference,
  type Reference,
  withoutPrevious,
  printStep,
} from '../../../api/expression/reference.ts';
import { compileValue, referencesOf } from '../../../api/expression/template.ts';
import { graphOf, predecessors, previousOf, type Graph } from '../../../api/graph.ts';
import { revisionOf } from '../../../api/revision.ts';
import { isTriggerKind, kindOf, type WorkflowSpec, type WorkflowNode } from '../../../api/workflow.ts';
import { nodesNamed } from '../../../nodes/skills/values.ts';
import { templatesOf, valuesOf } from '../../../nodes/step.ts';
import type { Check, Violation } from './check.ts';

/** Every `{{ … }}` of a step can be parsed and names a node that comes before it. */
export const referencesAreKnown: Check = (spec) => {
  const graph = graphOfSpec(spec);
  return revisionOf(spec).steps.flatMap((step) =>
    Object.entries(templatesOf(step)).flatMap(([field, value]) => {
      const place = `node ${step.id}: ${step.kind}.${field}`;
      return parsed(place, () =>
        referencesOf(compileValue(value)).flatMap((reference) => [
          ...checkReference(reference, step.id, place, graph),
          ...memberProblems(withoutPrevious(reference, previousOf(graph, step.id)), place, spec),
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
      const previous = previousOf(graph, step.id);
      return (values ? nodesNamed(values) : []).flatMap(({ path, ids, names, reads }) => [
        ...ids.flatMap((id) => checkNode({ id, written: `nodes.${id}` }, step.id, `${place}.${path}`, graph)),
        ...(names.previous ? checkPrevious('previous', step.id, `${place}.${path}`, graph) : []),
        ...reads.flatMap((read) =>
          memberProblems(withoutPrevious(read, previous), `${place}.${path}`, spec, true),
        ),
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
        ...valueReferences(condition).flatMap((read) =>
          memberProblems(withoutPrevious(read, from), place, spec, true),
        ),
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
  if (reference.source === 'previous') return checkPrevious(written, user, place, graph);
  if (reference.source !== 'item' && reference.source !== 'index') return [];
  const message = `${place}: ${written} exists only in a node with forEach; refer to a node as $('<node id>')`;
  return [{ reason: 'InvalidExpression', message }];
}

/** The node before exists only if exactly one edge leads into the node. */
function checkPrevious(written: string, user: string, place: string, graph: Graph): Violation[] {
  if (previousOf(graph, user) !== undefined) return [];
  const offered = (graph.into.get(user) ?? []).map(({ from }) => from);
  const message = `${place}: ${written} needs exactly one edge into ${user}: name the node instead, one of ${offered.join(', ') || '(none)'}`;
  return [{ reason: 'UnknownReference', message }];
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

/**
 * What is wrong with what a reference reads. `inCel`: a condition or value, which can ask with has() whether
 * an error is there, so that it may name one that never has a value.
 */
function memberProblems(reference: Reference, place: string, spec: WorkflowSpec, inCel = false): Violation[] {
  if (reference.source !== 'node') return [];
  const node = spec.nodes.find(({ id }) => id === reference.node);
  if (!node) return [];
  const problem =
    reference.member === 'headers'
      ? headerProblem(node, reference.path[0])
      : reference.member === 'error' && !inCel
        ? errorProblem(node, spec)
        : undefined;
  if (problem === undefined) return [];
  const written = inCel
    ? `nodes.${reference.node}.${reference.member}${reference.path.map(printStep).join('')}`
    : printReference(reference);
  return [{ reason: 'UnknownReference', message: `${place}: ${written} never has a value. ${problem}` }];
}

function headerProblem({ id, webhook }: WorkflowNode, key: string | number | undefined): string | undefined {
  if (!webhook) return `Only a webhook trigger has headers, and ${id} is not one`;
  const admitted = (webhook.headers ?? []).map((name) => name.toLowerCase());
  if (key === undefined && admitted.length > 0) return undefined;
  const name = String(key ?? 'x-name').toLowerCase();
  if (!admitted.includes(name)) return `Add the header to webhook.headers of node ${id}: headers: [${name}]`;
  return key === name ? undefined : `Header names are lower case: write headers['${name}']`;
}

function errorProblem(node: WorkflowNode, { nodes, edges = [] }: WorkflowSpec): string | undefined {
  if (nodes.includes(node) && isTriggerKind(kindOf(node)))
    return `${node.id} is the trigger, which never fails`;
  const goesOn =
    node.onError === 'Continue' || edges.some(({ from, after }) => from === node.id && after === 'Failure');
  return goesOn
    ? undefined
    : `A failure of ${node.id} ends the run: set its onError to Continue, or add an edge from it with after: Failure`;
}
