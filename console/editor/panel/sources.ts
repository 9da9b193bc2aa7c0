/**
 * What the expressions of a node may refer to: the nodes before it, and inside `forEach` the element. Pure.
 */
import { evaluate } from '../../../api/expression/evaluate.ts';
import { compileValue } from '../../../api/expression/template.ts';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { scopeOf } from '../../forms/expression/preview.ts';
import { sourceOf, type Element, type Source, type Sources } from '../../forms/source.ts';
import type { NodeOutputs } from '../../runs/live/lastOutputs.ts';
import { edgesOf, nodesBefore } from '../model/graph.ts';
import { nodeKind } from '../../workflows/kinds.ts';

type Outputs = ReadonlyMap<string, NodeOutputs>;

/** The sources of a node. `forEach` itself cannot refer to the element. */
export function sourcesOf(spec: WorkflowSpec, id: string, outputs: Outputs): Sources {
  const before = nodesBefore(edgesOf(spec), id);
  const nodes = spec.nodes
    .filter((node) => before.has(node.id))
    .flatMap((node) => nodeSource(spec, node, outputs));
  const forEach = spec.nodes.find((node) => node.id === id)?.forEach;
  if (forEach === undefined || forEach === '') return { nodes };
  return { nodes, element: elementOf(forEach, { nodes }) };
}

function nodeSource(spec: WorkflowSpec, node: WorkflowNode, outputs: Outputs): Source[] {
  const kind = nodeKind(node);
  if (kind === undefined) return [];
  const continuesOnError =
    node.onError === 'Continue' ||
    edgesOf(spec).some(({ from, after }) => from === node.id && after === 'Failure');
  const last = outputs.get(node.id);
  return [sourceOf(node, kind, last && { text_content: '', ...last }, continuesOnError)];
}

/** The first element of the `forEach` list, as far as it is known. */
function elementOf(forEach: string, sources: Sources): Element {
  try {
    const list = evaluate(compileValue(forEach), scopeOf(sources));
    return Array.isArray(list) && list.length > 0
      ? { item: list[0] as unknown, isReal: true }
      : { item: {}, isReal: false };
  } catch {
    return { item: {}, isReal: false };
  }
}
