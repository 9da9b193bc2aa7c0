import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import {
  cniConfiguration,
  containerdConfiguration,
  kubeletConfiguration,
} from '../../cluster/builtin/container-runtime.ts';
import { layoutOf, mostNodes, nodeLayouts } from '../../cluster/builtin/layout.ts';
import { partNames, partNamesOf, partsOf, type PartContext } from '../../cluster/builtin/parts.ts';
import { portBlock } from '../../cluster/builtin/ports.ts';
import { ensureSettings, readSettings } from '../../cluster/builtin/settings.ts';
import { readClusterConfig } from '../../cluster/config.ts';
import { nodeCount } from '../../cluster/nodeCount.ts';

const layout = layoutOf('/state/clusters', 'blue');
const places = nodeLayouts(layout, mostNodes);
const [first, second] = places.map((place) => ({
  place,
  files: { kubelet: `/kubelet-of-${place.number}`, containerd: `/containerd-of-${place.number}` },
})) as [PartContext['nodes'][number], PartContext['nodes'][number]];
const context: PartContext = {
  layout,
  programs: { folder: '/cache/bin/1', containerd: '/usr/bin/containerd' },
  ports: portBlock(1),
  audit: false,
  auditPolicy: '/state/policy-1',
  nodes: [first],
};
const command = (name: string, changed: Partial<PartContext> = {}, node = first) =>
  partsOf({ ...context, ...changed }, node)
    .flat()
    .find((part) => part.name === name)?.command ?? [];

test('every part of a cluster is started, and the API server before those that talk to it', () => {
  const order = partsOf(context, first).map((parts) => parts.map((part) => part.name));
  expect(new Set(order.flat())).toEqual(new Set(partNames));
  expect(order.slice(0, 2)).toEqual([['etcd', 'containerd'], ['kube-apiserver']]);
});

test('a further node has what runs pods, with files, a name and an address of its own', () => {
  const names = partsOf(context, second).flatMap((parts) => parts.map((part) => part.name));
  expect(names).toEqual(partNamesOf(2));
  expect(names).toEqual(['containerd', 'kubelet', 'kube-proxy']);
  const kubelet = command('kubelet', {}, second);
  expect(kubelet).toContain('--config=/kubelet-of-2');
  expect(kubelet).toContain('--kubeconfig=/state/clusters/blue/identities/kubelet-2');
  expect(kubelet).toContain('--hostname-override=blue-2');
  expect(kubelet).toContain('--node-ip=10.255.0.2');
  expect(command('kube-proxy', {}, second)).toContain('--hostname-override=blue-2');
});

test('nodes share no address, file, socket or control group', () => {
  for (const member of ['address', 'podRange', 'cgroup', 'configuration', 'socket', 'cni', 'logs'] as const) {
    expect(new Set(places.map((place) => place[member])).size).toBe(mostNodes);
  }
  expect(places.map(({ podRange }) => podRange).slice(0, 3)).toEqual([
    '10.244.0.0/20',
    '10.244.16.0/20',
    '10.244.32.0/20',
  ]);
  expect(cniConfiguration(second.place)).toContain('"subnet": "10.244.16.0/20"');
});

test('a node that does not report is lost after the default time where another can take over, and else much later', () => {
  expect(command('kube-controller-manager').join(' ')).toContain('--node-monitor-grace-period=10m');
  const several = command('kube-controller-manager', { nodes: [first, second] });
  expect(several.join(' ')).not.toContain('grace-period');
});

test.each(['1', '3', '9'])('%s is a number of nodes', (text) => {
  expect(nodeCount(text)).toBe(Number(text));
});

test.each(['0', '10', '-1', '1.5', '', 'three', '3x', '0x3', '1e1'])(
  '"%s" is refused as a number of nodes',
  (text) => {
    expect(() => nodeCount(text)).toThrow(
      `"${text}" cannot be the number of nodes: use a whole number from 1 to 9`,
    );
  },
);

test('without a number of nodes a cluster has those that it has', () => {
  expect(nodeCount(undefined)).toBeUndefined();
});

test('a cluster gains nodes, keeps them when none are asked for, and refuses to lose them', async () => {
  const clusters = await temporaryFolder();
  const place = layoutOf(clusters, 'grow');
  // A block that is known spares the search for free ports.
  await ensureKnown(place.folder, { block: 3, audit: false });
  expect(await ensureSettings(place, clusters, {})).toMatchObject({ block: 3, nodes: 1 });
  expect(await ensureSettings(place, clusters, { nodes: 3 })).toMatchObject({ nodes: 3 });
  expect(await ensureSettings(place, clusters, { audit: true })).toMatchObject({ nodes: 3, audit: true });
  await expect(ensureSettings(place, clusters, { nodes: 2 })).rejects.toThrow(
    'cluster grow has 3 nodes, and none can be taken away: remove the cluster (npm run cluster -- down --name grow)',
  );
  expect(await readSettings(place.settings)).toMatchObject({ nodes: 3 });
});

test.each(['', '{"block": ', '[]', '{"block": "first"}'])(
  'settings that are damaged (%s) are told with what to do',
  async (text) => {
    const clusters = await temporaryFolder();
    const place = layoutOf(clusters, 'torn');
    await ensureKnown(place.folder, text);
    await expect(readSettings(place.settings)).rejects.toThrow(
      'cluster.json does not hold the settings of a cluster: remove the cluster (npm run cluster -- down --name torn)',
    );
  },
);

test('NodePort services get ports of the block that the cluster has on the machine', () => {
  expect(command('kube-apiserver')).toContain('--service-node-port-range=30100-30198');
});

test('requests are written down only when that is asked for', () => {
  const audited = command('kube-apiserver', { audit: true });
  expect(audited).toContain('--audit-policy-file=/state/policy-1');
  expect(audited).toContain('--audit-log-path=/state/clusters/blue/logs/audit.log');
  expect(command('kube-apiserver').join(' ')).not.toContain('audit');
});

test('programs collect garbage as seldom as the environment says', () => {
  const { goCollection } = readClusterConfig({ GOGC: '400' });
  const [env, variable, program] = command('etcd', { goCollection });
  expect([env, variable, program]).toEqual(['/usr/bin/env', 'GOGC=400', '/cache/bin/1/etcd']);
  expect(command('etcd')[0]).toBe('/cache/bin/1/etcd');
});

test('the kubelet runs pods where cgroup v1 is mounted, in a group of the cluster', () => {
  expect(parse(kubeletConfiguration(layout, first.place))).toMatchObject({
    failCgroupV1: false,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: '/windlass-blue',
  });
  expect(parse(kubeletConfiguration(layout, second.place))).toMatchObject({
    cgroupRoot: '/windlass-blue/node-2',
    tlsCertFile: '/state/clusters/blue/certificates/kubelet-2.crt',
  });
});

test('containerd starts pods without the right to lower oom_score_adj', () => {
  expect(containerdConfiguration(first.place, '/cni')).toContain('restrict_oom_score_adj = true');
});

test.each(['', 'Blue', 'a/b', '-a', 'a'.repeat(33)])('"%s" is refused as the name of a cluster', (name) => {
  expect(() => layoutOf('/state', name)).toThrow('cannot be the name of a cluster');
});

test('a folder too deep for sockets is refused before anything is started', () => {
  expect(() => layoutOf(`/${'deep/'.repeat(20)}`, 'blue')).toThrow('XDG_STATE_HOME');
});

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'windlass-settings-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

async function ensureKnown(folder: string, settings: object | string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const text = typeof settings === 'string' ? settings : JSON.stringify(settings);
  await writeFile(join(folder, 'cluster.json'), text);
}
