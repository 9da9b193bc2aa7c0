/** The credentials of the project that new nodes can use. */
import { useQuery } from '@tanstack/react-query';
import { listObjects } from '../../kube/objects.ts';
import { CREDENTIALS, type CredentialObject } from '../../kube/resources.ts';
import type { Known } from '../canvas/newNode.ts';

/** Empty if the user may not list them. */
export function useKnownCredentials(namespace: string): Known[] {
  const { data = [] } = useQuery({
    queryKey: ['known-credentials', namespace],
    staleTime: 10_000,
    // Another tab may have created one.
    refetchOnWindowFocus: true,
    retry: false,
    queryFn: async ({ signal }) =>
      (await listObjects(CREDENTIALS, namespace, { limit: 500, signal })).items.map(knownOf),
  });
  return data;
}

function knownOf({ metadata, spec, status }: CredentialObject): Known {
  const kind = Object.keys(spec)[0] ?? '';
  return { name: metadata.name, kind, models: status?.models ?? [] };
}
