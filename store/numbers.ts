/** Numbers that are read from a project's keys. The account of the project may write any text there, so none is taken as it is. */

/** A count, or bytes: a whole number that is not negative. Any other text counts as 0, and so does a missing field. */
export function countOf(text: unknown): number {
  const count = Number(text ?? 0);
  return Number.isSafeInteger(count) && count > 0 ? count : 0;
}
