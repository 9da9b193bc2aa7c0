/** Selects the changes of rows that start runs, as many at a time as can be stored. */
import { numberOf, type RowChange, type RowEvent } from './diff.ts';
import { sizeOf } from './keeper.ts';
import type { PendingChange } from './state.ts';
import type { Row } from './rows.ts';

export type Taken = {
  pending: PendingChange[];
  /** The rows as they are once these changes are told. */
  rows: readonly Row[];
  /** There were more changes, which the next comparison finds again. */
  isPart: boolean;
};

const PENDING_BYTES = 2.25 * 2 ** 20;

/**
 * The first of the changes, which are in the order of rows. `after`: all rows; `wanted`: the events that
 * start runs.
 */
export function take(
  changes: readonly RowChange[],
  after: readonly Row[],
  wanted: ReadonlySet<RowEvent>,
): Taken {
  const pending: PendingChange[] = [];
  let room = PENDING_BYTES;
  for (const [index, change] of changes.entries()) {
    if (!wanted.has(change.event)) continue;
    const one = pendingOf(change);
    room -= sizeOf(one);
    // What a row holds is known of the first that changed only.
    const isUnknown = change.after !== undefined && change.after.cells === undefined;
    if (isUnknown || (room < 0 && pending.length > 0))
      return { pending, rows: without(after, changes.slice(index)), isPart: true };
    pending.push(one);
  }
  return { pending, rows: after, isPart: false };
}

function pendingOf(change: RowChange): PendingChange {
  const { event, before, after } = change;
  return {
    event,
    row: numberOf(change),
    ...(after?.cells && { cells: after.cells }),
    ...(before?.cells && { before: before.cells }),
    ...((after?.isCut || before?.isCut) && { isCut: true }),
  };
}

/** The rows as if these changes, which are in the order of rows, had not happened yet. */
function without(after: readonly Row[], changes: readonly RowChange[]): Row[] {
  const rows = changes.flatMap((change) => (change.before && !change.after ? change.before : []));
  const come = changes.filter((change) => change.after !== undefined);
  let next = 0;
  for (const row of after) {
    const change = come[next];
    if (change?.after !== row) {
      rows.push(row);
      continue;
    }
    next += 1;
    const { before } = change;
    if (before) before.number = row.number;
    if (before) rows.push(before);
  }
  return rows.toSorted((a, b) => a.number - b.number);
}
