import { useRef } from 'react';
import { useFormScope } from './scope.ts';
import { NO_SHAPES, type Shapes } from './shapes.ts';

/**
 * The shapes of a field, as one of its inputs offers them: a field of several shapes may be an expression,
 * too. They outlive the input where the form keeps them.
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
