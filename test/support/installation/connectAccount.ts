/** Asks the gateway of a cluster for the link that connects a credential, as a person does it. */
import type { Gateway } from './installedGateway.ts';
import { kubectl, type ClusterAccess } from '../cluster/kubectl.ts';

export type Asked = { cluster: ClusterAccess; gateway: Gateway; namespace: string; credential: string };

/** A token for the gateway of somebody with these roles, whose account of that name is made. */
export async function tokenOf(
  { cluster, namespace }: Asked,
  person: string,
  roles: readonly string[],
): Promise<string> {
  const kube = (...args: string[]) => kubectl(cluster, [...args, '-n', namespace]);
  await kube('create', 'serviceaccount', person);
  for (const role of roles)
    await kube(
      'create',
      'rolebinding',
      person,
      `--clusterrole=${role}`,
      `--serviceaccount=${namespace}:${person}`,
    );
  return (await kube('create', 'token', person, '--audience', 'windlass')).trim();
}

/** Asks for a link as somebody with these roles, whose account of that name is made. */
export async function askLink(
  asked: Asked,
  person: string,
  roles: readonly string[],
): Promise<{ status: number; text: string }> {
  const { gateway, namespace, credential } = asked;
  const token = await tokenOf(asked, person, roles);
  const response = await fetch(`${gateway.internalURL}/credentials/${namespace}.${credential}/connect`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  });
  return { status: response.status, text: await response.text() };
}
