/**
 * Programs as they are in pods, but for the pod: the image's files, and the identity of a service account
 * that is mounted.
 */
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundledPrograms } from '../../images/bundle.ts';
import { layOut, type ImageFile } from '../../images/files.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { ApiServer } from '../support/cluster/apiserver.ts';
import { tokenOf } from '../support/cluster/users.ts';

/** Where a pod finds its identity; here it is somewhere else for each. */
const MOUNTED = '/var/run/secrets/kubernetes.io/serviceaccount';

export type Pods = {
  /** Lays out the programs for a pod with that account. */
  make(account: { namespace: string; name: string }): Promise<Pod>;
  remove(): Promise<void>;
};

type Pod = {
  /** The file of a program. */
  program(name: 'operator' | 'gateway' | 'runner'): string;
  /** What the kubelet sets. A kubeconfig would make a program load what it never needs in a pod. */
  env: Record<string, string>;
};

/** Bundles the programs, which takes seconds. */
export async function createPods(server: ApiServer, client: KubeClient): Promise<Pods> {
  const files = await bundledPrograms('windlass');
  const folder = await mkdtemp(join(tmpdir(), 'windlass-pods-'));
  const { hostname, port } = new URL(server.url);
  return {
    make: async ({ namespace, name }) => {
      const own = join(folder, `${namespace}.${name}`);
      const account = join(own, 'account');
      await mkdir(account, { recursive: true });
      await writeFile(join(account, 'token'), await tokenOf(client, namespace, name), { mode: 0o600 });
      await writeFile(join(account, 'namespace'), namespace);
      await copyFile(server.caFile, join(account, 'ca.crt'));
      await layOut(
        files.map((file) => withAccount(file, account)),
        own,
      );
      return {
        program: (program) => join(own, 'app', `${program}.mjs`),
        env: { KUBECONFIG: '', KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port },
      };
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

function withAccount(file: ImageFile, account: string): ImageFile {
  if (!('content' in file) || typeof file.content !== 'string') return file;
  return { ...file, content: file.content.replaceAll(MOUNTED, account) };
}
