/** What the person who is signed in may do: asked of the API server, so that no button is shown that would be refused. */
import { queryOptions, useQueries, useQuery } from '@tanstack/react-query';
import { callJson } from '../http/call.ts';
import type { Resource } from './resources.ts';

type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'use';

export type Right = {
  verb: Verb;
  resource: Resource;
  namespace: string;
  subresource?: string;
  /** Left out: all of the namespace. */
  name?: string;
};

type Review = { status?: { allowed?: boolean } };

/** Rights change seldom, and the API server decides in the end. */
const KEEP_MS = 60_000;

/** Whether the right is held. */
export function rightQuery({ verb, resource, namespace, subresource = '', name = '' }: Right) {
  const { group, plural } = resource;
  return queryOptions({
    queryKey: ['right', verb, plural, subresource, namespace, name],
    staleTime: KEEP_MS,
    queryFn: async ({ signal }) => {
      const resourceAttributes = { verb, group, resource: plural, subresource, namespace, name };
      const review = await callJson<Review>('/kube/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
        method: 'POST',
        body: {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectAccessReview',
          spec: { resourceAttributes },
        },
        signal,
      });
      return review.status?.allowed === true;
    },
  });
}

/** Whether all of these rights are held; false until it is known. */
export function useMay(...rights: Right[]): boolean {
  return useQueries({ queries: rights.map(rightQuery) }).every(({ data }) => data === true);
}

/**
 * The objects among these for which the right is missing. It is asked about as a whole first, and one by one only where that is
 * refused; until the answers are there none is missing.
 */
export function useMissing(right: Omit<Right, 'name'>, names: readonly string[]): ReadonlySet<string> {
  const { data: isHeldForAll } = useQuery({ ...rightQuery(right), enabled: names.length > 0 });
  const asked = isHeldForAll === false ? names : [];
  const answers = useQueries({ queries: asked.map((name) => rightQuery({ ...right, name })) });
  return new Set(asked.filter((_, index) => answers[index]?.data === false));
}
