/** The shapes of values in CEL. Pure. */
import { shapesAfter, type Shapes } from '../shapes.ts';
import { isNothing, valuesOf, type Values } from '../values.ts';

export type Shape = 'names' | 'one' | 'json';

/** The shape in which a value is shown: the chosen one, if it shows the value. */
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
 * The value in the chosen shape, and what is remembered of the others. By name and JSON share their values,
 * also when they are removed. Only nested JSON is kept beside an empty value by name, which cannot show it.
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
