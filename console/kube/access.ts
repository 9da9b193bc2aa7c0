/** What the user may do, as the API server says, so that buttons are shown only if they work. */
import { queryOptions, useIsFetching, useQueries, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { callJson } from '../http/call.ts';
import type { Resource } from './resources.ts';

type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'use' | 'test';

export type Right = {
  verb: Verb;
  resource: Resource;
  namespace: string;
  subresource?: string;
  /** Undefined: all objects of the namespace. */
  name?: string;
};

type Review = { status?: { allowed?: boolean } };

/** Rights rarely change, and the API server enforces them anyway. */
const KEEP_MS = 60_000;

/** The first part of the keys of all queries for rights. */
const RIGHT = 'right';

export function rightQuery({ verb, resource, namespace, subresource = '', name = '' }: Right) {
  const { group, plural } = resource;
  return queryOptions({
    queryKey: [RIGHT, verb, plural, subresource, namespace, name],
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

/**
 * Whether all rights that the page has asked for are known, and its components have had the time to say what
 * they offer by them.
 */
export function useKnowsRights(): boolean {
  const asked = useIsFetching({ queryKey: [RIGHT], predicate: ({ state }) => state.data === undefined });
  const [isKnown, setKnown] = useState(false);
  // With the effects of the components that got the last answer, not before them.
  useEffect(() => setKnown(asked === 0), [asked]);
  return isKnown;
}

/** Whether the user has all of these rights; false until that is known. */
export function useMay(...rights: Right[]): boolean {
  return useQueries({ queries: rights.map(rightQuery) }).every(({ data }) => data === true);
}

/**
 * The objects that the user lacks the right for. One question covers all; only if that is refused, each
 * object is asked about. Empty until the answers arrive.
 */
export function useMissing(right: Omit<Right, 'name'>, names: readonly string[]): ReadonlySet<string> {
  const { data: isGrantedForAll } = useQuery({ ...rightQuery(right), enabled: names.length > 0 });
  const asked = isGrantedForAll === false ? names : [];
  const answers = useQueries({ queries: asked.map((name) => rightQuery({ ...right, name })) });
  return new Set(asked.filter((_, index) => answers[index]?.data === false));
}
