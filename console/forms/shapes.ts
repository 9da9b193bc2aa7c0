/** What a value was in its other shapes, such as text and JSON: it comes back with the shape. Pure. */
import type { Values } from './values.ts';

/** `chosen`: the shape that was chosen last. `values`: what the value was in each of them when left. */
export type Shapes = { readonly chosen?: string; readonly values: Values };

/** A field, and which of its inputs offers the shapes. */
export type ShapesAt = { readonly field: string; readonly input: string };

export const NO_SHAPES: Shapes = { values: {} };

/** The shapes after this one was left for another one. */
export function shapesAfter(
  { values }: Shapes,
  { left, value, chosen }: { left: string; value: unknown; chosen: string },
): Shapes {
  return { chosen, values: { ...values, [left]: value } };
}
