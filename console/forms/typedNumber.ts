/** The text of a number field and the number that it means. Pure. */

/** What a number field says was typed: a text as long as it is not written as numbers are, such as `0.`. */
export type Typed = string | number;

/** The number that was typed; undefined: none, or none yet, as of `-`. */
export function numberIn(typed: Typed): number | undefined {
  const number = Number(typed);
  if (typed === '' || !Number.isFinite(number)) return undefined;
  // With a zero behind it, `-` is on its way to -0.5.
  return number === 0 ? 0 : number;
}

/** What the field shows: the text as it was typed while the value is its number, or else the value. */
export function shownNumber(typed: Typed, value: unknown): Typed {
  const number = typeof value === 'number' ? value : undefined;
  return numberIn(typed) === number ? typed : (number ?? '');
}
