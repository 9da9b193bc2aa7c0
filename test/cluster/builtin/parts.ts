/**
 * The programs of a cluster: how each is started, what shows that it works, and in which order they need each
 * other. All run on the first node; further nodes have what runs pods.
 */
import { join } from 'node:path';
import {
  apiServerArguments,
  controllerManagerArguments,
  etcdArguments,
  schedulerArguments,
} from './control-plane.ts';
import { kubeletIdentity } from './identities.ts';
import { network, type Layout, type NodeLayout } from './layout.ts';
import type { PortBlock } from './ports.ts';

export type Part = {
  name: PartName;
  command: string[];
  /** Answers 200 inside the node when the part works; without one, running is all that is known. */
  health?: string;
};

export type PartName = (typeof partNames)[number];

export const partNames = [
  'etcd',
  'containerd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubelet',
  'kube-proxy',
  'storage',
] as const;

/** Those that every node has. */
const nodeParts: readonly PartName[] = ['containerd', 'kubelet', 'kube-proxy'];

/** The parts of the node with that number. */
export function partNamesOf(node: number): readonly PartName[] {
  return node === 1 ? partNames : nodeParts;
}

/** What the command lines depend on. */
export type PartContext = {
  layout: Layout;
  programs: { folder: string; containerd: string };
  ports: PortBlock;
  audit: boolean;
  auditPolicy: string;
  /** The first one runs the control plane, too. */
  nodes: NodeContext[];
  /** See `ClusterConfig`. */
  goCollection?: string | undefined;
};

/** `files`: paths of what the programs of the node read. */
export type NodeContext = { place: NodeLayout; files: { kubelet: string; containerd: string } };

/** Where a part says inside the node whether it works. */
export const healthEndpoints: Partial<Record<PartName, string>> = {
  etcd: `http://127.0.0.1:${network.etcdPort}/health`,
  'kube-apiserver': `https://${network.nodeAddress}:${network.apiPort}/readyz`,
  'kube-controller-manager': 'https://127.0.0.1:10257/healthz',
  'kube-scheduler': 'https://127.0.0.1:10259/healthz',
  kubelet: 'http://127.0.0.1:10248/healthz',
  // Its /healthz is about the node, which need not be known yet.
  'kube-proxy': 'http://127.0.0.1:10256/livez',
};

/**
 * The parts of one node in the order in which they are started: each list needs those before it, and those
 * of further nodes need the first node.
 */
export function partsOf(context: PartContext, { place, files }: NodeContext): Part[][] {
  const { layout, programs, ports, audit, auditPolicy, goCollection } = context;
  // A node gives its programs nothing of the environment of whoever starts them.
  const environment = goCollection === undefined ? [] : ['/usr/bin/env', `GOGC=${goCollection}`];
  const part = (name: PartName, args: string[], program = join(programs.folder, name)): Part => ({
    name,
    command: [...environment, program, ...args],
    health: healthEndpoints[name],
  });
  const identity = (name: PartName) => `--kubeconfig=${join(layout.identities, name)}`;
  const containerd = part('containerd', ['--config', files.containerd], programs.containerd);
  const running = [
    part('kubelet', [
      `--kubeconfig=${join(layout.identities, kubeletIdentity(place.number))}`,
      `--config=${files.kubelet}`,
      `--node-ip=${place.address}`,
      `--hostname-override=${place.name}`,
    ]),
    part('kube-proxy', [identity('kube-proxy'), ...proxyArguments(place)]),
  ];
  if (place.number > 1) return [[containerd], running];
  return [
    [part('etcd', etcdArguments(layout)), containerd],
    [part('kube-apiserver', apiServerArguments(layout, ports, audit ? auditPolicy : undefined))],
    [
      part('kube-controller-manager', [
        identity('kube-controller-manager'),
        ...controllerManagerArguments(layout, context.nodes.length),
      ]),
      part('kube-scheduler', [identity('kube-scheduler'), ...schedulerArguments()]),
      ...running,
      part('storage', [identity('storage'), `--folder=${layout.volumes}`]),
    ],
  ];
}

function proxyArguments(place: NodeLayout): string[] {
  return [
    `--hostname-override=${place.name}`,
    '--proxy-mode=iptables',
    `--cluster-cidr=${network.podRange}`,
    '--iptables-min-sync-period=200ms',
    '--oom-score-adj=0',
    // These limits belong to the whole machine and cannot be set from a network namespace.
    '--conntrack-max-per-core=0',
    '--conntrack-tcp-timeout-established=0s',
    '--conntrack-tcp-timeout-close-wait=0s',
  ];
}
