/**
 * The programs of a cluster: how each is started, what shows that it works, and in which order they need each
 * other.
 */
import { join } from 'node:path';
import {
  apiServerArguments,
  controllerManagerArguments,
  etcdArguments,
  schedulerArguments,
} from './control-plane.ts';
import { network, type Layout } from './layout.ts';
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

/** What the command lines depend on. */
export type PartContext = {
  layout: Layout;
  programs: { folder: string; containerd: string };
  ports: PortBlock;
  audit: boolean;
  /** Paths of what the programs read. */
  files: { kubelet: string; containerd: string; auditPolicy: string };
};

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

/** In the order in which they are started: each list needs those before it. */
export function partsOf({ layout, programs, ports, audit, files }: PartContext): Part[][] {
  const part = (name: PartName, args: string[], program = join(programs.folder, name)): Part => ({
    name,
    command: [program, ...args],
    health: healthEndpoints[name],
  });
  const identity = (name: PartName) => `--kubeconfig=${join(layout.identities, name)}`;
  return [
    [
      part('etcd', etcdArguments(layout)),
      part('containerd', ['--config', files.containerd], programs.containerd),
    ],
    [part('kube-apiserver', apiServerArguments(layout, ports, audit ? files.auditPolicy : undefined))],
    [
      part('kube-controller-manager', [
        identity('kube-controller-manager'),
        ...controllerManagerArguments(layout),
      ]),
      part('kube-scheduler', [identity('kube-scheduler'), ...schedulerArguments()]),
      part('kubelet', [identity('kubelet'), `--config=${files.kubelet}`, ...kubeletArguments(layout)]),
      part('kube-proxy', [identity('kube-proxy'), ...proxyArguments(layout)]),
      part('storage', [identity('storage'), `--folder=${layout.volumes}`]),
    ],
  ];
}

function kubeletArguments(layout: Layout): string[] {
  return [`--node-ip=${network.nodeAddress}`, `--hostname-override=${layout.name}`];
}

function proxyArguments(layout: Layout): string[] {
  return [
    `--hostname-override=${layout.name}`,
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
