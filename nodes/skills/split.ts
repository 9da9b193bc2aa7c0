/** Splits text at commas, ignoring commas in the values of references. Linear time. */

/**
 * The parts between the commas that stand in texts, outside quotes. What is empty between commas is left out.
 */
export function splitAtCommas<T extends object>(parts: readonly (string | T)[]): (string | T)[][] {
  const pieces: (string | T)[][] = [[]];
  let isQuoted = false;
  for (const part of parts) {
    if (typeof part !== 'string') pieces.at(-1)?.push(part);
    // Every token but a comma outside quotes belongs to the piece that is open.
    else
      for (const token of part.match(/[",]|[^",]+/g) ?? []) {
        if (token === '"') isQuoted = !isQuoted;
        if (token === ',' && !isQuoted) pieces.push([]);
        else pieces.at(-1)?.push(token);
      }
  }
  return pieces
    .map(joined)
    .filter((piece) => piece.some((part) => typeof part !== 'string' || part.trim() !== ''));
}

/** Neighbouring texts become one. */
function joined<T extends object>(parts: readonly (string | T)[]): (string | T)[] {
  const whole: (string | T)[] = [];
  for (const part of parts) {
    const last = whole.at(-1);
    if (typeof part === 'string' && typeof last === 'string') whole[whole.length - 1] = last + part;
    else whole.push(part);
  }
  return whole;
}
