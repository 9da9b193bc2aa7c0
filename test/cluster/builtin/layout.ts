/**
 * Where everything of a built-in cluster lies and which addresses it has. Inside the nodes' own networks
 * every cluster has the same addresses; only the ports on the machine differ.
 */
import { join } from 'node:path';

/** Inside the nodes. */
export const network = {
  /** Of the first node, where the API server answers. */
  nodeAddress: '10.255.0.1',
  nodeRange: '10.255.0.0/24',
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
  /** Of the parts of the first node. */
  logs: string;
  certificates: string;
  /** One kubeconfig per part. */
  identities: string;
  /** Of the administrator, from the machine. */
  kubeconfig: string;
  etcd: string;
  volumes: string;
  auditLog: string;
};

/** The device with the address of a node; the nodes of a cluster are connected by it. */
export const nodeBridge = 'node0';

/** The most nodes of a cluster: each has a sixteenth of the pods' range. */
export const mostNodes = 9;

/** Where everything of one node lies, and its addresses. */
export type NodeLayout = {
  /** From 1; the first node runs the control plane, too. */
  number: number;
  /** Of its Node object. */
  name: string;
  folder: string;
  /** What its first process is told. */
  configuration: string;
  /** Where that answers. */
  socket: string;
  logs: string;
  containerdSocket: string;
  /** Of programs, each under a name with the hash of its content. */
  configurations: string;
  cni: string;
  address: string;
  /** Its pods have addresses of this range. */
  podRange: string;
  /** The control group of its pods, below the root of each hierarchy. */
  cgroup: string;
};

// A path of a Unix socket has at most 107 bytes.
const longestSocket = 107;

/** Throws when the name cannot be that of a cluster, or its folder is too deep for sockets. */
export function layoutOf(clustersFolder: string, name: string): Layout {
  if (!/^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/.test(name)) {
    throw new Error(`"${name}" cannot be the name of a cluster: use at most 32 of a-z, 0-9 and -`);
  }
  const folder = join(clustersFolder, name);
  const layout = {
    name,
    folder,
    settings: join(folder, 'cluster.json'),
    logs: join(folder, 'logs'),
    certificates: join(folder, 'certificates'),
    identities: join(folder, 'identities'),
    kubeconfig: join(folder, 'kubeconfig'),
    etcd: join(folder, 'etcd'),
    volumes: join(folder, 'volumes'),
    auditLog: join(folder, 'logs', 'audit.log'),
  };
  nodeLayout(layout, 1);
  return layout;
}

/**
 * The first node lies in the folder of the cluster, each further one in a folder of its own in there. Throws
 * when that is too deep for sockets.
 */
export function nodeLayout(cluster: Pick<Layout, 'name' | 'folder'>, number: number): NodeLayout {
  const own = number === 1 ? '' : `node-${number}`;
  const folder = join(cluster.folder, own);
  const containerdSocket = join(folder, 'containerd.sock');
  if (Buffer.byteLength(`${containerdSocket}.ttrpc`) > longestSocket) {
    throw new Error(`${folder} is too long for sockets: set XDG_STATE_HOME to a shorter path`);
  }
  return {
    number,
    name: number === 1 ? cluster.name : `${cluster.name}-${number}`,
    folder,
    configuration: join(folder, 'node.json'),
    socket: join(folder, 'node.sock'),
    logs: join(folder, 'logs'),
    containerdSocket,
    configurations: join(folder, 'configurations'),
    cni: join(folder, 'cni'),
    address: `10.255.0.${number}`,
    podRange: `10.244.${(number - 1) * 16}.0/20`,
    cgroup: join(`/windlass-${cluster.name}`, own),
  };
}

/** The nodes of a cluster with so many. */
export function nodeLayouts(cluster: Pick<Layout, 'name' | 'folder'>, nodes: number): NodeLayout[] {
  return Array.from({ length: nodes }, (_, index) => nodeLayout(cluster, index + 1));
}
