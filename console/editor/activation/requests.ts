/** The requests that a webhook gets, as the runs that they start. Pure. */
import { LABEL } from '../../../api/group.ts';
import { textCell, type Row } from '../../kube/table.ts';

/** The first run that a webhook started and that is not in `known`; undefined: none yet. */
export function firstRunSince(rows: readonly Row[], known: ReadonlySet<string>): Row | undefined {
  return rows
    .filter((row) => !known.has(row.metadata.uid ?? '') && startedBy(row) === 'webhook')
    .toSorted((a, b) => acceptedAt(a).localeCompare(acceptedAt(b)))[0];
}

/** The status may follow later than the object. */
function startedBy(row: Row): string | undefined {
  return row.metadata.labels?.[LABEL.trigger] ?? textCell(row, 'Trigger');
}

function acceptedAt(row: Row): string {
  return textCell(row, 'Accepted') ?? row.metadata.creationTimestamp ?? '';
}
