/**
 * Where everything of a built-in cluster lies and which addresses it has. Inside the node's own network every
 * cluster has the same addresses; only the ports on the machine differ.
 */
import { join } from 'node:path';

/** Inside the node. */
export const network = {
  nodeAddress: '10.255.0.1',
  podRange: '10.244.0.0/16',
  serviceRange: '10.96.0.0/16',
  apiService: '10.96.0.1',
  dnsService: '10.96.0.10',
  domain: 'cluster.local',
  apiPort: 6443,
  etcdPort: 2379,
} as const;

export type Layout = {
  name: string;
  folder: string;
  settings: string;
  /** What the node's first process is told. */
  nodeConfiguration: string;
  /** Where it answers. */
  nodeSocket: string;
  logs: string;
  certificates: string;
  /** One kubeconfig per part. */
  identities: string;
  /** Of the administrator, from the machine. */
  kubeconfig: string;
  containerdSocket: string;
  /** Of programs, each under a name with the hash of its content. */
  configurations: string;
  cni: string;
  etcd: string;
  volumes: string;
  auditLog: string;
};

// A path of a Unix socket has at most 107 bytes.
const longestSocket = 107;

/** Throws when the name cannot be that of a cluster, or its folder is too deep for sockets. */
export function layoutOf(clustersFolder: string, name: string): Layout {
  if (!/^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/.test(name)) {
    throw new Error(`"${name}" cannot be the name of a cluster: use at most 32 of a-z, 0-9 and -`);
  }
  const folder = join(clustersFolder, name);
  const containerdSocket = join(folder, 'containerd.sock.ttrpc');
  if (Buffer.byteLength(containerdSocket) > longestSocket) {
    throw new Error(`${folder} is too long for sockets: set XDG_STATE_HOME to a shorter path`);
  }
  return {
    name,
    folder,
    settings: join(folder, 'cluster.json'),
    nodeConfiguration: join(folder, 'node.json'),
    nodeSocket: join(folder, 'node.sock'),
    logs: join(folder, 'logs'),
    certificates: join(folder, 'certificates'),
    identities: join(folder, 'identities'),
    kubeconfig: join(folder, 'kubeconfig'),
    containerdSocket: join(folder, 'containerd.sock'),
    configurations: join(folder, 'configurations'),
    cni: join(folder, 'cni'),
    etcd: join(folder, 'etcd'),
    volumes: join(folder, 'volumes'),
    auditLog: join(folder, 'logs', 'audit.log'),
  };
}
