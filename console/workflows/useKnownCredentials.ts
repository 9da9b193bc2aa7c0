/** The credentials of a project that new workflows can use, those that work first. */
import { useTable } from '../kube/hooks.ts';
import { CREDENTIALS } from '../kube/resources.ts';
import { textCell, type Row } from '../kube/table.ts';
import type { KnownCredential } from './create.ts';

export function useKnownCredentials(project: string): { credentials: KnownCredential[]; isPending: boolean } {
  const table = useTable(CREDENTIALS, project, { maxPages: 1 });
  const isReady = (row: Row) => textCell(row, 'Ready') === 'True';
  const rows = (table.data?.rows ?? []).toSorted(
    (one, other) => Number(isReady(other)) - Number(isReady(one)),
  );
  const credentials = rows.map((row) => ({
    name: row.metadata.name,
    kind: textCell(row, 'Kind') ?? '',
  }));
  return { credentials, isPending: table.isPending };
}
