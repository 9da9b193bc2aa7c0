/** Tables as the API server prints them for `kubectl get`, a fraction of the size of the objects. */
import type { ObjectMeta } from './resources.ts';

/** The metadata of the object, and the cells by column name. */
export type Row = { metadata: ObjectMeta; cells: Record<string, unknown> };

export type TablePage = {
  rows: Row[];
  /** Where a watch continues. */
  resourceVersion: string;
  /** Continues with the next page; undefined: this is the last one. */
  continue?: string;
  /** The number of further rows, if the API server reports it. */
  remaining?: number;
};

export const TABLE_TYPE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

type Wire = {
  metadata?: { resourceVersion?: string; continue?: string; remainingItemCount?: number };
  columnDefinitions?: { name: string }[] | null;
  rows?: { cells: unknown[]; object?: { metadata?: ObjectMeta } }[] | null;
};

/** Parses a Table. A watch sends columns with the first event only: later events use those of the list. */
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

/** A cell as text; undefined if it is empty. */
export function textCell({ cells }: Row, column: string): string | undefined {
  const value = cells[column];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A cell as a number; 0 if it is empty. */
export function numberCell({ cells }: Row, column: string): number {
  const value = cells[column];
  return typeof value === 'number' ? value : Number(value ?? 0) || 0;
}

/** Memoizes a function of a row, so that unchanged rows keep their results and are not redrawn. */
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
