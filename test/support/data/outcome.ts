/** What comes of a call, be it a value or an error, for tests that judge both. */
import { ExpressionError } from '../../../api/expression/errors.ts';

export function outcomeOf(act: () => unknown): { value?: unknown; error?: unknown } {
  try {
    return { value: act() };
  } catch (error) {
    return { error };
  }
}

/** The ExpressionError that it throws. Throws whatever else it throws, and where it throws nothing. */
export function errorOf(act: () => unknown): ExpressionError {
  const { error, value } = outcomeOf(act);
  if (error instanceof ExpressionError) return error;
  throw error ?? new Error(`nothing was thrown, the result is ${JSON.stringify(value)}`);
}
