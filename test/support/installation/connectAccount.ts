/** Asks the gateway of a cluster for the link that connects a credential, as a person does it. */
import type { Gateway } from './installedGateway.ts';
import { kubectl, type ClusterAccess } from '../cluster/kubectl.ts';

type Asked = { cluster: ClusterAccess; gateway: Gateway; namespace: string; credential: string };

/** Asks for a link as somebody with these roles, whose account of that name is made. */
export async function askLink(
  { cluster, gateway, namespace, credential }: Asked,
  person: string,
  roles: string[],
): Promise<{ status: number; text: string }> {
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
  const token = (await kube('create', 'token', person, '--audience', 'windlass')).trim();
  const response = await fetch(`${gateway.internalURL}/credentials/${namespace}.${credential}/connect`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  });
  return { status: response.status, text: await response.text() };
}
