/** People and programs with rights of their own: service accounts, and clients that log in as them. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import type { KubeConnection } from '../../../kube/config.ts';
import type { ApiServer } from './apiserver.ts';
import {
  roleBindings,
  roles,
  serviceAccounts,
  subjectAccessReviews,
  type PolicyRule,
  type Resource,
  type Role,
} from '../../../kube/resource.ts';

/** None of our programs reads them. */
export const clusterRoles: Resource<Role> = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  namespaced: false,
};

/** A token of the service account; `spec` is that of the TokenRequest. */
export async function tokenOf(
  admin: KubeClient,
  namespace: string,
  name: string,
  spec: object = {},
): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec };
  const answer = (await admin.raw('POST', path, { body })) as { status: { token: string } };
  return answer.status.token;
}

/** The same API server, as whoever bears the token. */
export function connectionOf({ server, ca }: KubeConnection, token: string): KubeConnection {
  return { server, ...(ca !== undefined && { ca }), auth: { token: () => token } };
}

/** A kubeconfig of whoever bears the token, for programs. It goes when the API server does. */
export async function writeKubeconfig(
  { url, caFile, logFolder }: Pick<ApiServer, 'url' | 'caFile' | 'logFolder'>,
  name: string,
  token: string,
): Promise<string> {
  const path = join(logFolder, `kubeconfig-${name}`);
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    // The client library asks for this word where there is no TLS to skip.
    clusters: [
      {
        name,
        cluster: url.startsWith('http:')
          ? { server: url, 'insecure-skip-tls-verify': true }
          : { server: url, 'certificate-authority': caFile },
      },
    ],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  };
  await writeFile(path, stringify(config), { mode: 0o600 });
  return path;
}

/**
 * Makes a service account that holds these rights in its namespace, and gives a client of its own. Close it.
 */
export async function createUser(
  admin: KubeClient,
  connection: KubeConnection,
  { namespace, name, rules }: { namespace: string; name: string; rules: PolicyRule[] },
): Promise<KubeClient> {
  const metadata = { namespace, name };
  await admin.create(serviceAccounts, { metadata });
  await admin.create(roles, { metadata, rules });
  await admin.create(roleBindings, {
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  });
  return createClient(connectionOf(connection, await tokenOf(admin, namespace, name)));
}

/**
 * Whether the API server lets the user do the first of all that the rule is about, in that namespace. It
 * learns of changed rules a moment after it has stored them.
 */
export async function isAllowed(
  admin: KubeClient,
  { user, namespace }: { user: string; namespace: string },
  { apiGroups, resources, resourceNames, verbs }: PolicyRule,
): Promise<boolean> {
  const [resource = '', subresource = ''] = resources[0]?.split('/') ?? [];
  const [group = '', name = '', verb = ''] = [apiGroups[0], resourceNames?.[0], verbs[0]];
  const resourceAttributes = { namespace, verb, group, resource, subresource, name };
  const spec = { user, resourceAttributes };
  const review = await admin.create(subjectAccessReviews, { metadata: { name: '' }, spec });
  return review.status?.allowed === true;
}
