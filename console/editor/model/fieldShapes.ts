/**
 * The values that fields had in each of their shapes (`forms/shapes.ts`). The editor keeps them as long as it
 * is open, for the nodes and fields that the draft still has. Pure.
 */
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { NO_SHAPES, type Shapes, type ShapesAt } from '../../forms/shapes.ts';
import { isSameField } from './sameField.ts';

type At = ShapesAt & { readonly node: string };

/** `spec`: the draft when somebody last chose another shape. */
export type FieldShapes = At & { readonly shapes: Shapes; readonly spec: WorkflowSpec };

const isAt = (one: At, { node, field, input }: At) =>
  one.node === node && one.field === field && one.input === input;

/** All shapes, with `one` in place of the earlier shapes of its field. */
export function withShapes(all: readonly FieldShapes[], one: FieldShapes): readonly FieldShapes[] {
  return [...all.filter((each) => !isAt(each, one)), one];
}

/** The shapes of a field; none if the field is another one now (`isSameField`). */
export function shapesAt(all: readonly FieldShapes[], at: At, spec: WorkflowSpec): Shapes {
  return all.find((each) => isAt(each, at) && isSameField(at, each.spec, spec))?.shapes ?? NO_SHAPES;
}

/** The shapes after the ID of a node was changed. Those of the ID before stay for whoever undoes that. */
export function withRenamedShapes(
  all: readonly FieldShapes[],
  [id, next]: readonly [string, string],
  spec: WorkflowSpec,
): readonly FieldShapes[] {
  const renamed = all.filter(({ node }) => node === id).map((each) => ({ ...each, node: next, spec }));
  return [...all.filter(({ node }) => node !== next), ...renamed];
}

/** The shapes without those of nodes that were added: a node that was removed may have had the same ID. */
export function withoutAdded(
  all: readonly FieldShapes[],
  before: WorkflowSpec,
  after: WorkflowSpec,
): readonly FieldShapes[] {
  const hasNode = ({ nodes }: WorkflowSpec, id: string) => nodes.some((node) => node.id === id);
  const isAdded = ({ node }: FieldShapes) => hasNode(after, node) && !hasNode(before, node);
  return all.some(isAdded) ? all.filter((each) => !isAdded(each)) : all;
}
