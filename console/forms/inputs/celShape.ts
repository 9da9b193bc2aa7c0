/** The shapes of values in CEL. Pure. */
import { isNothing, valuesOf } from '../values.ts';

export type Shape = 'names' | 'one' | 'json';

/** The shape in which a value is shown. Nested objects and lists are edited as JSON. */
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
