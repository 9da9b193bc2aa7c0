/** The shapes of values in CEL: named values, one value, and JSON. Pure. */
import { shapesAfter, type Shapes } from '../shapes.ts';
import { isNothing, valuesOf, type Values } from '../values.ts';

export type Shape = 'names' | 'one' | 'json';

/** The shape in which a value is shown: the chosen one if it can show the value. */
export function shownShape(value: unknown, { chosen }: Shapes): Shape {
  const shape = (['names', 'one', 'json'] as const).find((each) => each === chosen);
  return shape !== undefined && (isNothing(value) || fitsShape(value, shape)) ? shape : shapeOf(value);
}

/** The shape of a value. Nested objects and lists are edited as JSON. */
export function shapeOf(value: unknown): Shape {
  if (typeof value === 'string') return 'one';
  const isFlat = Object.values(valuesOf(value)).every(
    (member) => typeof member !== 'object' || member === null,
  );
  return isFlat && !Array.isArray(value) ? 'names' : 'json';
}

/** Whether a value stays when it is shown in this shape. An empty one gives way to what the shape had. */
export function fitsShape(value: unknown, shape: Shape): boolean {
  if (isNothing(value)) return false;
  return shape === 'json' ? typeof value !== 'string' : shapeOf(value) === shape;
}

/**
 * The value in the chosen shape, and the shapes after the switch. `names` and `json` share one value, also
 * when it is removed. Only nested JSON, which `names` cannot show, is kept while `names` is empty.
 */
export function switched(
  shapes: Shapes,
  change: { left: Shape; value: unknown; chosen: Shape },
): { value: unknown; shapes: Shapes } {
  const { left, value, chosen } = change;
  const { values: before } = shapesAfter(shapes, change);
  const hidesJson = isNothing(value) && shapeOf(before['json']) === 'json';
  const values: Values = {
    ...before,
    ...(left === 'names' && !hidesJson && { json: value }),
    ...(left === 'json' && shapeOf(value) === 'names' && { names: value }),
  };
  return { value: fitsShape(value, chosen) ? value : values[chosen], shapes: { chosen, values } };
}
