/**
 * The values that fields had in each of their shapes (`forms/shapes.ts`). The editor keeps them as long as it
 * is open, for the nodes and fields that the draft still has. Pure.
 */
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { NO_SHAPES, type Shapes, type ShapesAt } from '../../forms/shapes.ts';
import { valuesOf, type Values } from '../../forms/values.ts';
import { otherId } from './otherId.ts';
import { renameInNode, renameInValue, type Renaming } from './references.ts';
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

/** The shapes after the ID of a node was changed: as in the draft, references to it have the new one. */
export function withRenamedShapes(
  all: readonly FieldShapes[],
  [id, next]: readonly [string, string],
  [before, after]: readonly [WorkflowSpec, WorkflowSpec],
): readonly FieldShapes[] {
  const renaming = new Map([[id, next]]);
  return all
    .filter((each) => each.node !== next && (each.node !== id || isSameField(each, each.spec, before)))
    .map((each) => (each.node === id ? { ...each, node: next, spec: after } : each))
    .map((each) => ({ ...each, shapes: { ...each.shapes, values: renamedValues(each, renaming) } }));
}

function renamedValues({ field, input, shapes: { values } }: FieldShapes, renaming: Renaming): Values {
  if (field !== 'loop')
    return valuesOf(renameInValue(values, renaming, input === 'values' ? 'cel' : 'template'));
  const { id: _id, ...loops } = renameInNode({ id: '', ...values }, renaming);
  return loops;
}

/**
 * The shapes after undo (`back`) or redo. What is undone may have been the addition of a node, and what is
 * redone the removal of one: another node may have the same ID then.
 */
export function shapesAfterStep(
  all: readonly FieldShapes[],
  way: 'back' | 'forward',
  [before, after]: readonly [WorkflowSpec, WorkflowSpec],
): readonly FieldShapes[] {
  const renamed = otherId(before, after);
  if (renamed !== undefined) return withRenamedShapes(all, renamed, [before, after]);
  return way === 'back' ? withoutAdded(all, after, before) : withoutAdded(all, before, after);
}

/**
 * The shapes without those of nodes that `after` has beyond `before`: a node that was removed may have had
 * the same ID.
 */
export function withoutAdded(
  all: readonly FieldShapes[],
  before: WorkflowSpec,
  after: WorkflowSpec,
): readonly FieldShapes[] {
  const hasNode = ({ nodes }: WorkflowSpec, id: string) => nodes.some((node) => node.id === id);
  const isAdded = ({ node }: FieldShapes) => hasNode(after, node) && !hasNode(before, node);
  return all.some(isAdded) ? all.filter((each) => !isAdded(each)) : all;
}
