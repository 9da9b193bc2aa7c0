import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { containerdConfiguration, kubeletConfiguration } from '../../cluster/builtin/container-runtime.ts';
import { layoutOf } from '../../cluster/builtin/layout.ts';
import { partNames, partsOf, type PartContext } from '../../cluster/builtin/parts.ts';
import { portBlock } from '../../cluster/builtin/ports.ts';

const layout = layoutOf('/state/clusters', 'blue');
const context: PartContext = {
  layout,
  programs: { folder: '/cache/bin/1', containerd: '/usr/bin/containerd' },
  ports: portBlock(1),
  audit: false,
  files: { kubelet: '/state/kubelet-1', containerd: '/state/containerd-1', auditPolicy: '/state/policy-1' },
};
const command = (name: string, changed: Partial<PartContext> = {}) =>
  partsOf({ ...context, ...changed })
    .flat()
    .find((part) => part.name === name)?.command ?? [];

test('every part of a cluster is started, and the API server before those that talk to it', () => {
  const order = partsOf(context).map((parts) => parts.map((part) => part.name));
  expect(new Set(order.flat())).toEqual(new Set(partNames));
  expect(order.slice(0, 2)).toEqual([['etcd', 'containerd'], ['kube-apiserver']]);
});

test('NodePort services get ports of the block that the cluster has on the machine', () => {
  expect(command('kube-apiserver')).toContain('--service-node-port-range=30100-30198');
});

test('requests are written down only when that is asked for', () => {
  const audited = command('kube-apiserver', { audit: true });
  expect(audited).toContain('--audit-policy-file=/state/policy-1');
  expect(audited).toContain('--audit-log-path=/state/clusters/blue/logs/audit.log');
  expect(command('kube-apiserver').join(' ')).not.toContain('audit');
});

test('the kubelet runs pods where cgroup v1 is mounted, in a group of the cluster', () => {
  expect(parse(kubeletConfiguration(layout))).toMatchObject({
    failCgroupV1: false,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: '/windlass-blue',
  });
});

test('containerd starts pods without the right to lower oom_score_adj', () => {
  expect(containerdConfiguration(layout, '/cni')).toContain('restrict_oom_score_adj = true');
});

test.each(['', 'Blue', 'a/b', '-a', 'a'.repeat(33)])('"%s" is refused as the name of a cluster', (name) => {
  expect(() => layoutOf('/state', name)).toThrow('cannot be the name of a cluster');
});

test('a folder too deep for sockets is refused before anything is started', () => {
  expect(() => layoutOf(`/${'deep/'.repeat(20)}`, 'blue')).toThrow('XDG_STATE_HOME');
});
