/**
 * Numbers of a project's keys. The account of the project may write any text there, so that each is
 * validated.
 */

/** A count, or bytes: a whole number that is not negative. Any other text, and a missing field, is 0. */
export function countOf(text: unknown): number {
  const count = Number(text ?? 0);
  return Number.isSafeInteger(count) && count > 0 ? count : 0;
}
