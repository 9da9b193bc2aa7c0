/**
 * The values that a field had in each of its shapes, such as text and JSON. When somebody chooses a shape
 * again, its value comes back. Pure.
 */
import type { Values } from './values.ts';

/** `chosen`: the shape that was chosen last. `values`: by shape, the value when somebody left that shape. */
export type Shapes = { readonly chosen?: string; readonly values: Values };

/** A field, and which of its inputs offers the shapes. */
export type ShapesAt = { readonly field: string; readonly input: string };

export const NO_SHAPES: Shapes = { values: {} };

/** `left`: the shape that somebody left, with this `value`, for the shape `chosen`. */
export function shapesAfter(
  { values }: Shapes,
  { left, value, chosen }: { left: string; value: unknown; chosen: string },
): Shapes {
  return { chosen, values: { ...values, [left]: value } };
}
