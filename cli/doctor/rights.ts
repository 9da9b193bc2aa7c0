/** What the user may do on the cluster. */
import { GROUP } from '../../api/group.ts';
import { clusterResource, type SubjectAccessReview } from '../../kube/resource.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Right } from './judge.ts';

const reviews = clusterResource<SubjectAccessReview>(
  'authorization.k8s.io',
  'v1',
  'SelfSubjectAccessReview',
  'selfsubjectaccessreviews',
);

const OF_PROJECT = [
  ['list', 'workflows'],
  ['list', 'workflowruns'],
  ['create', 'workflowruns'],
  ['patch', 'workflowruns'],
  ['list', 'credentials'],
  ['patch', 'credentials'],
] as const;
const OF_RELEASE = [
  ['list', 'pods'],
  ['create', 'pods/portforward'],
] as const;

/** Asks the API server about each right that the commands need. */
export async function readRights({ client, namespace }: Cluster, systemNamespace: string): Promise<Right[]> {
  const wanted = [
    ...OF_PROJECT.map(([verb, resource]) => ({ verb, resource, group: GROUP, namespace })),
    ...OF_RELEASE.map(([verb, resource]) => ({ verb, resource, group: '', namespace: systemNamespace })),
  ];
  return Promise.all(
    wanted.map(async ({ verb, group, namespace: where, resource: whole }) => {
      const [resource = '', subresource] = whole.split('/');
      const resourceAttributes = {
        namespace: where,
        verb,
        group,
        resource,
        ...(subresource !== undefined && { subresource }),
      };
      const review = await client.create(reviews, { spec: { resourceAttributes } });
      return { verb, group, resource: whole, namespace: where, isAllowed: review.status?.allowed === true };
    }),
  );
}
