/** The programs of a cluster: how each is started, what shows that it works, and in which order they need each other. */
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
  name: string;
  command: string[];
  /** Answers 200 inside the node when the part works; without one, running is all that is known. */
  health?: string;
};

export type PartContext = {
  layout: Layout;
  binDir: string;
  containerd: string;
  ports: PortBlock;
  audit: boolean;
};

/** In the order in which they are started: each list needs those before it. */
export function partsOf(context: PartContext): Part[][] {
  const { layout, binDir, ports, audit } = context;
  const program = (name: string, args: string[], health?: string): Part => ({
    name,
    command: [join(binDir, name), ...args],
    health,
  });
  return [
    [
      program('etcd', etcdArguments(layout), `http://127.0.0.1:${network.etcdPort}/health`),
      { name: 'containerd', command: [context.containerd, '--config', layout.containerdConfiguration] },
    ],
    [
      program(
        'kube-apiserver',
        apiServerArguments(layout, ports, audit),
        `https://${network.nodeAddress}:${network.apiPort}/readyz`,
      ),
    ],
    [
      program(
        'kube-controller-manager',
        controllerManagerArguments(layout),
        'https://127.0.0.1:10257/healthz',
      ),
      program('kube-scheduler', schedulerArguments(layout), 'https://127.0.0.1:10259/healthz'),
      program('kubelet', kubeletArguments(layout), 'http://127.0.0.1:10248/healthz'),
      program('kube-proxy', proxyArguments(layout), 'http://127.0.0.1:10256/livez'),
      program('storage', [
        `--kubeconfig=${join(layout.identities, 'storage')}`,
        `--folder=${layout.volumes}`,
      ]),
    ],
  ];
}

function kubeletArguments(layout: Layout): string[] {
  return [
    `--config=${layout.kubeletConfiguration}`,
    `--kubeconfig=${join(layout.identities, 'kubelet')}`,
    `--node-ip=${network.nodeAddress}`,
    `--hostname-override=${layout.name}`,
  ];
}

function proxyArguments(layout: Layout): string[] {
  return [
    `--kubeconfig=${join(layout.identities, 'kube-proxy')}`,
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
