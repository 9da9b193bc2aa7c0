/** Tables as the API server prints them: what `kubectl get` shows, a fraction of the objects' size. */
import type { ObjectMeta } from './resources.ts';

/** A row: its object's metadata, and the cells by the name of their column. */
export type Row = { metadata: ObjectMeta; cells: Record<string, unknown> };

export type TablePage = {
  rows: Row[];
  /** What a watch goes on from. */
  resourceVersion: string;
  /** What the next page is asked for with; undefined: this was the last one. */
  continue?: string;
  /** How many more there are, where the API server says it. */
  remaining?: number;
};

export const TABLE_TYPE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

type Wire = {
  metadata?: { resourceVersion?: string; continue?: string; remainingItemCount?: number };
  columnDefinitions?: { name: string }[] | null;
  rows?: { cells: unknown[]; object?: { metadata?: ObjectMeta } }[] | null;
};

/** Reads a Table. A watch sends its columns with the first event alone: later ones get those of the list. */
export function readTable(wire: unknown, knownColumns: string[] = []): TablePage & { columns: string[] } {
  const { metadata = {}, columnDefinitions, rows } = wire as Wire;
  const named = (columnDefinitions ?? []).map(({ name }) => name);
  const columns = named.length > 0 ? named : knownColumns;
  return {
    columns,
    rows: (rows ?? []).flatMap(({ cells, object }) =>
      object?.metadata
        ? [
            {
              metadata: object.metadata,
              cells: Object.fromEntries(columns.map((name, at) => [name, cells[at] ?? undefined])),
            },
          ]
        : [],
    ),
    resourceVersion: metadata.resourceVersion ?? '',
    ...(metadata.continue !== undefined && metadata.continue !== '' && { continue: metadata.continue }),
    ...(metadata.remainingItemCount !== undefined && { remaining: metadata.remainingItemCount }),
  };
}

/** A cell as text; undefined where it is empty. */
export function textCell({ cells }: Row, column: string): string | undefined {
  const value = cells[column];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A cell as a number; 0 where it is empty. */
export function numberCell({ cells }: Row, column: string): number {
  const value = cells[column];
  return typeof value === 'number' ? value : Number(value ?? 0) || 0;
}

/** The function, with what it gave for rows that are still there. */
export function perRow<T>(make: (row: Row) => T): (row: Row) => T {
  const made = new WeakMap<Row, T>();
  return (row) => {
    const known = made.get(row);
    if (known !== undefined) return known;
    const next = make(row);
    made.set(row, next);
    return next;
  };
}
