/** As much of a revision as the console reads: the order of its nodes, and which come before which. */
import { queryOptions } from '@tanstack/react-query';
import { ApiFailure } from '../http/failure.ts';
import { getObject } from '../kube/objects.ts';
import { REVISIONS } from '../kube/resources.ts';

export type RevisionShape = { ids: string[]; before: (id: string) => string[] };

/** The content of the revision; null where it is not kept any more, or may not be read. */
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

/** Reads the shape out of a revision; without one, nothing is known of the graph. */
export function shapeOf(data: unknown): RevisionShape {
  const { trigger, steps, edges } = record(data);
  const ids = [trigger, ...list(steps)].map((node) => record(node)['id']).filter(isText);
  const ends = list(edges).map((edge) => record(edge));
  return {
    ids,
    before: (id) =>
      ends
        .filter(({ to }) => to === id)
        .map(({ from }) => from)
        .filter(isText),
  };
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
