import { useRef } from 'react';
import { useFormScope } from './scope.ts';
import { NO_SHAPES, type Shapes } from './shapes.ts';

/**
 * The values of a field in each of its shapes. `input` says which choice of shapes is meant: a field can have
 * two, such as text or JSON, and fixed value or expression. If the form keeps shapes (`FormScope`), they are
 * there again when the input is. Otherwise they end with it.
 */
export function useShapes(
  path: string,
  input: 'values' | 'text' | 'oneOf' | 'shapes' | 'expression' | 'kind',
): { get: () => Shapes; keep: (shapes: Shapes) => void } {
  const { shapes } = useFormScope();
  const own = useRef(NO_SHAPES);
  const at = { field: path, input };
  return {
    get: () => (shapes === undefined ? own.current : shapes.of(at)),
    keep: (next) => {
      if (shapes === undefined) own.current = next;
      else shapes.keep(at, next);
    },
  };
}
