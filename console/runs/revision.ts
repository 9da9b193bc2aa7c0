/** The part of a revision that the console reads: nodes in order, and their predecessors. */
import { queryOptions } from '@tanstack/react-query';
import { ApiFailure } from '../http/failure.ts';
import { getObject } from '../kube/objects.ts';
import { REVISIONS } from '../kube/resources.ts';
import { membersOf } from '../../api/record.ts';

export type RevisionShape = { ids: string[]; before: (id: string) => string[] };

/** The content of the revision; null if it no longer exists or may not be read. */
export function revisionQuery(namespace: string, name: string | undefined) {
  return queryOptions({
    queryKey: ['revision', namespace, name],
    enabled: name !== undefined,
    staleTime: Infinity,
    queryFn: async ({ signal }): Promise<unknown> => {
      try {
        return (await getObject(REVISIONS, namespace, name ?? '', signal)).data ?? null;
      } catch (error) {
        if (error instanceof ApiFailure && (error.status === 404 || error.status === 403)) return null;
        throw error;
      }
    },
  });
}

/** Parses the shape of a revision. Without one the graph is unknown. */
export function shapeOf(data: unknown): RevisionShape {
  const { trigger, steps, edges } = membersOf(data);
  const ids = [trigger, ...list(steps)].map((node) => membersOf(node)['id']).filter(isText);
  const ends = list(edges).map((edge) => membersOf(edge));
  return {
    ids,
    before: (id) =>
      ends
        .filter(({ to }) => to === id)
        .map(({ from }) => from)
        .filter(isText),
  };
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
