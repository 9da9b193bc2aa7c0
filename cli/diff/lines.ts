/** The differences of two texts, line by line. Pure. */

export type DiffLine = { sign: ' ' | '+' | '-'; text: string };

/** Equal lines around a difference that are shown. */
const CONTEXT = 3;

/** The lines of both texts in one order: a longest common subsequence is kept. */
export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  const common = commonLengths(before, after);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const [old, now] = [before[i], after[j]];
    if (old !== undefined && old === now) {
      lines.push({ sign: ' ', text: old });
      [i, j] = [i + 1, j + 1];
    } else if (
      now === undefined ||
      (old !== undefined && lengthAt(common, i + 1, j) >= lengthAt(common, i, j + 1))
    ) {
      lines.push({ sign: '-', text: old ?? '' });
      i += 1;
    } else {
      lines.push({ sign: '+', text: now });
      j += 1;
    }
  }
  return lines;
}

/** How many lines both texts have in common from these positions on. */
function commonLengths(before: readonly string[], after: readonly string[]): Uint32Array[] {
  const table = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i -= 1)
    for (let j = after.length - 1; j >= 0; j -= 1) {
      const row = table[i];
      if (!row) continue;
      row[j] =
        before[i] === after[j]
          ? lengthAt(table, i + 1, j + 1) + 1
          : Math.max(lengthAt(table, i + 1, j), lengthAt(table, i, j + 1));
    }
  return table;
}

const lengthAt = (table: readonly Uint32Array[], i: number, j: number): number => table[i]?.[j] ?? 0;

/** Differences with some equal lines around them; a gap is a line with three points. Empty: no difference. */
export function shownLines(lines: readonly DiffLine[]): DiffLine[] {
  const near = lines.map((_, index) =>
    lines.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(({ sign }) => sign !== ' '),
  );
  return lines.flatMap((line, index): DiffLine[] => {
    if (near[index]) return [line];
    return near[index - 1] ? [{ sign: ' ', text: '…' }] : [];
  });
}
