/** The certificates of a cluster's parts and the kubeconfig of each. */
import { access, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { certify } from '../certificates.ts';
import { kubeconfig } from '../kubeconfig.ts';
import { mostNodes, network, nodeLayouts, type Layout } from './layout.ts';
import { writeWhole } from './settings.ts';

/** The users that parts are, by the name of the part. */
const users = {
  'kube-controller-manager': { commonName: 'system:kube-controller-manager', organizations: [] },
  'kube-scheduler': { commonName: 'system:kube-scheduler', organizations: [] },
  'kube-proxy': { commonName: 'system:kube-proxy', organizations: [] },
  storage: { commonName: 'windlass-cluster:storage', organizations: ['system:masters'] },
};

const adminUser = { commonName: 'windlass-cluster:admin', organizations: ['system:masters'] };

/** The name of the files of a node's kubelet. */
export function kubeletIdentity(node: number): string {
  return node === 1 ? 'kubelet' : `kubelet-${node}`;
}

/**
 * Makes what is missing of them, for so many nodes. All certificates are made together, with those of all
 * nodes that the cluster may have: half of them would not fit the other half. Throws where a cluster was made
 * without certificates for further nodes.
 */
export async function ensureIdentities(
  layout: Layout,
  binDir: string,
  { apiPort, nodes }: { apiPort: number; nodes: number },
): Promise<void> {
  await ensureCertificates(layout, binDir);
  const kubelets = Array.from({ length: nodes }, (_, index) => kubeletIdentity(index + 1));
  const last = join(layout.certificates, `${kubelets.at(-1)}.key`);
  if (!(await isThere(last))) {
    throw new Error(
      `cluster ${layout.name} was made without certificates for further nodes: remove it ` +
        `(npm run cluster -- down --name ${layout.name}) and start it again`,
    );
  }
  await mkdir(layout.identities, { recursive: true, mode: 0o700 });
  const inside = `https://${network.nodeAddress}:${network.apiPort}`;
  for (const part of [...Object.keys(users), ...kubelets]) {
    await writeKubeconfig(layout, part, inside, join(layout.identities, part));
  }
  await writeKubeconfig(layout, 'admin', `https://127.0.0.1:${apiPort}`, layout.kubeconfig);
}

async function ensureCertificates(layout: Layout, binDir: string): Promise<void> {
  if (await isThere(layout.certificates)) return;
  const unfinished = `${layout.certificates}.new`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true, mode: 0o700 });
  const byCa = Object.entries(users).map(([name, user]) => ({ name, issuer: 'ca', ...user }));
  await certify(binDir, unfinished, {
    certificates: [
      { name: 'ca', commonName: `windlass-${layout.name}` },
      { name: 'kube-apiserver', issuer: 'ca', commonName: 'kube-apiserver', hosts: apiServerHosts() },
      {
        name: 'kube-apiserver-kubelet-client',
        issuer: 'ca',
        commonName: 'windlass-cluster:kube-apiserver',
        organizations: ['system:masters'],
      },
      ...nodeLayouts(layout, mostNodes).map(({ number, name, address }) => ({
        name: kubeletIdentity(number),
        issuer: 'ca',
        commonName: `system:node:${name}`,
        organizations: ['system:nodes'],
        hosts: [name, address],
      })),
      ...byCa,
      { name: 'admin', issuer: 'ca', ...adminUser },
    ],
    signingKeys: ['service-accounts'],
  });
  await rename(unfinished, layout.certificates);
}

function apiServerHosts(): string[] {
  const service = [
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    `kubernetes.default.svc.${network.domain}`,
  ];
  return ['127.0.0.1', 'localhost', network.nodeAddress, network.apiService, ...service];
}

async function writeKubeconfig(layout: Layout, name: string, server: string, path: string): Promise<void> {
  const read = (file: string) => readFile(join(layout.certificates, file), 'utf8');
  const [ca, cert, key] = await Promise.all([read('ca.crt'), read(`${name}.crt`), read(`${name}.key`)]);
  await writeWhole(path, kubeconfig({ cluster: `windlass-${layout.name}`, server, ca, cert, key }), 0o600);
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
