/**
 * The command lines of etcd, the API server, the controllers and the scheduler, and what the API server
 * writes down.
 */
import { join } from 'node:path';
import { stringify } from 'yaml';
import { network, type Layout } from './layout.ts';
import type { PortBlock } from './ports.ts';

export function etcdArguments(layout: Layout): string[] {
  const client = `http://127.0.0.1:${network.etcdPort}`;
  const peer = `http://127.0.0.1:${network.etcdPort + 1}`;
  return [
    `--name=${layout.name}`,
    `--data-dir=${layout.etcd}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=${layout.name}=${peer}`,
    '--auto-compaction-retention=5m',
    '--log-level=warn',
  ];
}

/** With the path of a policy, requests are written down. */
export function apiServerArguments(layout: Layout, ports: PortBlock, auditPolicy?: string): string[] {
  const certificate = (file: string) => join(layout.certificates, file);
  return [
    `--advertise-address=${network.nodeAddress}`,
    `--secure-port=${network.apiPort}`,
    `--etcd-servers=http://127.0.0.1:${network.etcdPort}`,
    `--service-cluster-ip-range=${network.serviceRange}`,
    `--service-node-port-range=${ports.nodePorts.join('-')}`,
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--allow-privileged=true',
    `--client-ca-file=${certificate('ca.crt')}`,
    `--tls-cert-file=${certificate('kube-apiserver.crt')}`,
    `--tls-private-key-file=${certificate('kube-apiserver.key')}`,
    `--kubelet-certificate-authority=${certificate('ca.crt')}`,
    `--kubelet-client-certificate=${certificate('kube-apiserver-kubelet-client.crt')}`,
    `--kubelet-client-key=${certificate('kube-apiserver-kubelet-client.key')}`,
    '--kubelet-preferred-address-types=InternalIP',
    `--service-account-issuer=https://kubernetes.default.svc.${network.domain}`,
    `--service-account-signing-key-file=${certificate('service-accounts.key')}`,
    `--service-account-key-file=${certificate('service-accounts.pub')}`,
    ...(auditPolicy === undefined
      ? []
      : [
          `--audit-policy-file=${auditPolicy}`,
          `--audit-log-path=${layout.auditLog}`,
          // Megabytes of one file, and how many are kept beside the one that is written.
          '--audit-log-maxsize=64',
          '--audit-log-maxbackup=3',
        ]),
  ];
}

/**
 * Who did what to which object, once each request has been answered; but for what the cluster's own parts do
 * all the time.
 */
export function auditPolicy(): string {
  return stringify({
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    rules: [
      { level: 'None', userGroups: ['system:nodes', 'system:serviceaccounts:kube-system'] },
      {
        level: 'None',
        users: ['system:apiserver', 'system:kube-scheduler', 'system:kube-controller-manager'],
      },
      { level: 'Metadata' },
    ],
  });
}

/**
 * With several nodes, those that do not report are lost after the time that Kubernetes has as its default.
 */
export function controllerManagerArguments(layout: Layout, nodes: number): string[] {
  const certificate = (file: string) => join(layout.certificates, file);
  return [
    '--leader-elect=false',
    '--bind-address=127.0.0.1',
    '--use-service-account-credentials=true',
    // A node that cannot report, because the API server was away, is taken out of all services at its return,
    // DNS too, until it reports. Of a single node nothing could take over.
    ...(nodes === 1 ? ['--node-monitor-grace-period=10m'] : []),
    `--service-account-private-key-file=${certificate('service-accounts.key')}`,
    `--root-ca-file=${certificate('ca.crt')}`,
    `--cluster-signing-cert-file=${certificate('ca.crt')}`,
    `--cluster-signing-key-file=${certificate('ca.key')}`,
  ];
}

export function schedulerArguments(): string[] {
  return [
    '--leader-elect=false',
    '--bind-address=127.0.0.1',
    // The binding of a claim can come while the pod's failed attempt is still being requeued: nothing wakes
    // the pod then for this time.
    '--pod-max-in-unschedulable-pods-duration=10s',
  ];
}
