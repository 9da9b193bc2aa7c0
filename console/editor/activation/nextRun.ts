/** Which of the runs of a list came while somebody was waiting for a request. Pure. */
import { LABEL } from '../../../api/group.ts';
import { textCell, type Row } from '../../kube/table.ts';

/** The first one that a webhook started and that was not there before; undefined: none yet. */
export function cameSince(rows: readonly Row[], known: ReadonlySet<string>): Row | undefined {
  return rows
    .filter((row) => !known.has(row.metadata.uid ?? '') && startedBy(row) === 'webhook')
    .toSorted((a, b) => acceptedAt(a).localeCompare(acceptedAt(b)))[0];
}

/** The status may come after the object. */
function startedBy(row: Row): string | undefined {
  return row.metadata.labels?.[LABEL.trigger] ?? textCell(row, 'Trigger');
}

function acceptedAt(row: Row): string {
  return textCell(row, 'Accepted') ?? row.metadata.creationTimestamp ?? '';
}
