/** Checks of what a reference reads out of a node: headers that the webhook admits, and the error of a node that may fail. Pure. */
import { printReference, printStep, type Reference } from '../../../api/expression/reference.ts';
import { isTriggerKind, kindOf, type WorkflowNode, type WorkflowSpec } from '../../../api/workflow.ts';
import type { Violation } from './check.ts';

/**
 * What is wrong with what a reference reads. `inCel`: a condition or value, which can ask with has() whether an error is there, so
 * that it may name one that never has a value.
 */
export function memberProblems(
  reference: Reference,
  place: string,
  spec: WorkflowSpec,
  inCel = false,
): Violation[] {
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
