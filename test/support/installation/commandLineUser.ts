/** Somebody who works with `windlass` on an installed Windlass. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { kubectl, type ClusterAccess } from '../cluster/kubectl.ts';
import { windlassNamespace } from './install.ts';

export type CommandLineUser = {
  /** A kubeconfig with the token of the account. */
  kubeconfig: string;
  /** Removes the kubeconfig, and the rights outside of the project. */
  remove: () => Promise<void>;
};

/** Lets an account of a project do everything in it, and connect to pods of the release. */
export async function createCommandLineUser(
  cluster: ClusterAccess,
  { project, account, token }: { project: string; account: string; token: string },
): Promise<CommandLineUser> {
  const subject = [`--serviceaccount=${project}:${account}`, '--clusterrole=cluster-admin'];
  for (const namespace of [project, windlassNamespace])
    await kubectl(cluster, ['create', 'rolebinding', project, '-n', namespace, ...subject]);
  const config = parse(await readFile(cluster.kubeconfigPath, 'utf8')) as { users: { user: object }[] };
  for (const entry of config.users) entry.user = { token };
  const folder = await mkdtemp(join(tmpdir(), 'windlass-line-'));
  const kubeconfig = join(folder, 'config');
  await writeFile(kubeconfig, stringify(config), { mode: 0o600 });
  const remove = async () => {
    await rm(folder, { recursive: true });
    await kubectl(cluster, ['delete', 'rolebinding', project, '-n', windlassNamespace]);
  };
  return { kubeconfig, remove };
}
