/** The service account that a pod has mounted, for a program that runs in none. */
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeClient } from '../../../kube/client.ts';
import { serviceAccounts } from '../../../kube/resource.ts';
import type { ApiServer } from '../cluster/apiserver.ts';
import { tokenOf } from '../cluster/users.ts';
import { makeFolder } from '../process/folder.ts';

export type MountedAccount = {
  /** Arguments for Node, with which a program finds the account where a pod has it. */
  nodeArgs: string[];
  /** The address of the API server, as a pod is told it. */
  env: Record<string, string>;
  remove: () => void;
};

/** Where a pod has its service account. */
const MOUNTED = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Makes `readFileSync` find in a folder what a pod has mounted. */
const redirection = (folder: string): string => `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const read = fs.readFileSync;
const placeOf = (path) => (typeof path === 'string' ? path.replace('${MOUNTED}', '${folder}') : path);
fs.readFileSync = (path, ...options) => read(placeOf(path), ...options);
syncBuiltinESMExports();`;

/**
 * An account that may do everything. A program with a kubeconfig in its place would take more time and memory
 * to read that than for all else.
 */
export async function mountAccount(
  api: ApiServer,
  client: KubeClient,
  namespace: string,
): Promise<MountedAccount> {
  const { path: folder, remove } = await makeFolder('account');
  await allowPods(client);
  await writeFile(join(folder, 'token'), await tokenOf(client, 'default', 'pods'));
  await writeFile(join(folder, 'namespace'), namespace);
  await copyFile(api.caFile, join(folder, 'ca.crt'));
  return {
    nodeArgs: importing(redirection(folder)),
    // A name, since a pod goes to no mail server at the address of the API server.
    env: { KUBERNETES_SERVICE_HOST: 'localhost', KUBERNETES_SERVICE_PORT: new URL(api.url).port },
    remove,
  };
}

/** Arguments for Node that execute a module before the program. */
export function importing(source: string): string[] {
  return ['--import', `data:text/javascript,${encodeURIComponent(source)}`];
}

/** The rights are not tested here. */
async function allowPods(client: KubeClient): Promise<void> {
  await client.create(serviceAccounts, { metadata: { namespace: 'default', name: 'pods' } });
  const binding = {
    metadata: { name: 'pods' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', namespace: 'default', name: 'pods' }],
  };
  await client.raw('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', { body: binding });
}
