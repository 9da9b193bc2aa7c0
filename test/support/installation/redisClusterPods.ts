/**
 * A Redis Cluster of pods in the namespace of the release: three primaries with a replica each. To Windlass
 * it is an existing one, with accounts for operator and gateway.
 */
import { createHash, randomBytes } from 'node:crypto';
import { stringify } from 'yaml';
import { getJson, kubectl, type ClusterAccess } from '../cluster/kubectl.ts';
import { aclFile } from '../runStore/aclFile.ts';
import { pollUntil } from '../time/poll.ts';
import { applyManifest, windlassNamespace } from './install.ts';

const NAME = 'redis-cluster';
/** The Secret with the passwords of operator and gateway, for `redis.existingSecret`. */
export const REDIS_CLUSTER_SECRET = 'redis-cluster-passwords';
const SERVERS = 6;
const SOON = { timeoutMs: 120_000, everyMs: 250 };
const TIMEOUT_MS = 150_000;
/** Beside its defaults. Projects of other slots go on while a primary is away. */
const SETTINGS = [
  '--cluster-enabled yes',
  '--cluster-node-timeout 2000',
  '--cluster-require-full-coverage no',
  '--appendonly yes',
  '--appendfsync always',
  '--maxmemory-policy noeviction',
  '--protected-mode no',
  '--repl-diskless-sync-delay 0',
  '--dir /data',
  '--aclfile /data/users.acl',
].join(' ');

export type RedisClusterPods = {
  /** host:port of some servers. */
  addresses: readonly string[];
  /** The pod of the primary that has the slot, as another pod sees it; undefined while there is none. */
  primaryOf: (slot: number, asked: string) => Promise<string | undefined>;
  /** Deletes a pod at once, with its data. */
  lose: (pod: string) => Promise<void>;
  /** Makes the new pod of a server that was lost a replica of that primary. */
  rejoin: (pod: string, primary: string) => Promise<void>;
  /** Their names. */
  pods: readonly string[];
};

type Pod = { metadata: { name: string }; status: { podIP?: string } };

/** Starts the pods, of this image, and joins them. `removeRedisCluster` removes them. */
export async function startRedisCluster(cluster: ClusterAccess, image: string): Promise<RedisClusterPods> {
  const inSystem = (...args: string[]) =>
    kubectl(cluster, ['-n', windlassNamespace, ...args], { timeoutMs: TIMEOUT_MS });
  const redisCli = (pod: string, ...command: string[]) =>
    inSystem('exec', pod, '--', 'redis-cli', ...command);
  const isRunning = () => inSystem('rollout', 'status', `statefulset/${NAME}`, '--timeout=120s');
  const addressesOf = async () => {
    const all = ['pods', '-n', windlassNamespace, '-l', `app=${NAME}`];
    const { items } = await getJson<{ items: Pod[] }>(cluster, ...all);
    return new Map(items.map(({ metadata, status }) => [metadata.name, status.podIP ?? '']));
  };
  await applyManifest(cluster, manifestOf(image));
  await isRunning();
  const started = await addressesOf();
  const [first = ''] = started.keys();
  const addresses = [...started.values()].map((address) => `${address}:6379`);
  await redisCli(first, '--cluster', 'create', ...addresses, '--cluster-replicas', '1', '--cluster-yes');
  const isWhole = async () => (await redisCli(first, 'cluster', 'info')).includes('cluster_state:ok');
  await pollUntil('a cluster with all slots', isWhole, SOON);
  return {
    addresses: addresses.slice(0, SERVERS / 2),
    pods: [...started.keys()],
    primaryOf: async (slot, asked) => {
      const address = ownerOf(await redisCli(asked, 'cluster', 'nodes'), slot);
      return [...(await addressesOf())].find(([, own]) => own === address)?.[0];
    },
    lose: async (pod) => void (await inSystem('delete', 'pod', pod, '--grace-period=0', '--force')),
    rejoin: async (pod, primary) => {
      await isRunning();
      const to = (await addressesOf()).get(primary) ?? '';
      await redisCli(pod, 'cluster', 'meet', to, '6379');
      const id = (await redisCli(primary, 'cluster', 'myid')).trim();
      const isKnown = async () => (await redisCli(pod, 'cluster', 'nodes')).includes(id);
      await pollUntil('a server that knows its primary', isKnown, SOON);
      await redisCli(pod, 'cluster', 'replicate', id);
    },
  };
}

/** Removes the pods and all that was made for them. */
export async function removeRedisCluster(cluster: ClusterAccess): Promise<void> {
  const objects = [
    `statefulset/${NAME}`,
    `service/${NAME}`,
    `configmap/${NAME}`,
    `secret/${REDIS_CLUSTER_SECRET}`,
  ];
  const remove = ['-n', windlassNamespace, 'delete', ...objects, '--ignore-not-found'];
  await kubectl(cluster, remove, { timeoutMs: TIMEOUT_MS });
}

/** The address of the server that has a slot, in the answer of `CLUSTER NODES`. Pure. */
function ownerOf(nodes: string, slot: number): string | undefined {
  const owner = nodes.split('\n').find((line) => {
    const [, , flags = '', , , , , , ...ranges] = line.split(' ');
    const contains = (range: string) => {
      const [first = Number.NaN, last = first] = range.split('-').map(Number);
      return first <= slot && slot <= last;
    };
    return flags.includes('master') && !flags.includes('fail') && ranges.some(contains);
  });
  return owner?.split(' ')[1]?.split(':')[0];
}

function manifestOf(image: string): string {
  const [operator, gateway] = [randomBytes(12).toString('hex'), randomBytes(12).toString('hex')];
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const accounts = aclFile({ operatorSha256: sha256(operator), gatewaySha256: sha256(gateway) })
    // Replicas and administrators log in as `default`.
    .replace('user default reset off ~*', 'user default reset on nopass ~*');
  const metadata = { name: NAME, namespace: windlassNamespace };
  const labels = { app: NAME };
  const passwords = { 'operator-password': operator, 'gateway-password': gateway };
  const service = { clusterIP: 'None', selector: labels, ports: [{ port: 6379 }] };
  const set = {
    serviceName: NAME,
    replicas: SERVERS,
    podManagementPolicy: 'Parallel',
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: podOf(image) },
  };
  return [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'users.acl': accounts } },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...metadata, name: REDIS_CLUSTER_SECRET },
      stringData: passwords,
    },
    { apiVersion: 'v1', kind: 'Service', metadata, spec: service },
    { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata, spec: set },
  ]
    .map((object) => stringify(object))
    .join('---\n');
}

function podOf(image: string): object {
  const volumes = { data: { emptyDir: {} }, accounts: { configMap: { name: NAME } } };
  return {
    terminationGracePeriodSeconds: 1,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 999,
      fsGroup: 999,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [
      {
        name: 'redis',
        image,
        command: ['sh', '-c', `cp /accounts/users.acl /data/users.acl && exec redis-server ${SETTINGS}`],
        ports: [{ containerPort: 6379 }],
        readinessProbe: { exec: { command: ['redis-cli', 'ping'] }, periodSeconds: 2 },
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        volumeMounts: Object.keys(volumes).map((name) => ({ name, mountPath: `/${name}` })),
      },
    ],
    volumes: Object.entries(volumes).map(([name, source]) => ({ name, ...source })),
  };
}
