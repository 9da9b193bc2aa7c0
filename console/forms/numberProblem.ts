/** What is wrong with a number for its field. Pure. */
import { number } from '../ui/format.ts';
import type { Editor } from './fields.ts';

/** Undefined: the number is within its bounds, and whole where it has to be. */
export function numberProblem(
  { isWhole, minimum = -Infinity, maximum = Infinity }: Extract<Editor, { kind: 'number' }>,
  value: number,
): string | undefined {
  if (value < minimum || value > maximum) return boundsText(minimum, maximum);
  if (!isWhole || Number.isSafeInteger(value)) return undefined;
  return Number.isInteger(value) ? 'Enter a number of at most 15 digits.' : 'Enter a whole number.';
}

function boundsText(minimum: number, maximum: number): string {
  if (maximum === Infinity) return `Enter ${number(minimum)} or more.`;
  return minimum === -Infinity
    ? `Enter ${number(maximum)} or less.`
    : `Enter a number from ${number(minimum)} to ${number(maximum)}.`;
}
