/** What every cluster has besides its programs: DNS and a default storage class. */
import { stringify } from 'yaml';
import { clusterImages } from '../build.ts';
import { network } from './layout.ts';

const labels = { 'k8s-app': 'kube-dns' };
const kubeSystem = { namespace: 'kube-system' };

/** The manifests, as one YAML stream for `kubectl apply`. DNS runs on the node of that name. */
export function addonManifests(node: string): string {
  return [storageClass(), ...dns(node)].map((manifest) => stringify(manifest)).join('---\n');
}

function storageClass(): unknown {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: 'windlass.dev/node-disk',
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'Immediate',
  };
}

function dns(node: string): unknown[] {
  const metadata = { name: 'coredns', ...kubeSystem };
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'system:coredns' },
      rules: [
        { apiGroups: [''], resources: ['services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
        { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
      ],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'system:coredns' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:coredns' },
      subjects: [{ kind: 'ServiceAccount', ...metadata }],
    },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { Corefile: corefile() } },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'kube-dns', ...kubeSystem, labels },
      spec: {
        clusterIP: network.dnsService,
        selector: labels,
        ports: [
          { name: 'dns', port: 53, protocol: 'UDP' },
          { name: 'dns-tcp', port: 53, protocol: 'TCP' },
          { name: 'ready', port: 8181 },
        ],
      },
    },
    { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: dnsDeployment(node) },
  ];
}

/** There is no `forward`: names outside the cluster do not exist for its pods. */
function corefile(): string {
  return `.:53 {
  errors
  health
  ready
  cache 5
  kubernetes ${network.domain} in-addr.arpa ip6.arpa
}
`;
}

function dnsDeployment(node: string): unknown {
  const container = {
    name: 'coredns',
    image: clusterImages.coredns.reference,
    imagePullPolicy: 'Never',
    args: ['-conf', '/etc/coredns/Corefile'],
    ports: [
      { name: 'dns', containerPort: 53, protocol: 'UDP' },
      { name: 'dns-tcp', containerPort: 53, protocol: 'TCP' },
    ],
    readinessProbe: { httpGet: { path: '/ready', port: 8181 }, periodSeconds: 1 },
    livenessProbe: { httpGet: { path: '/health', port: 8080 } },
    resources: { requests: { cpu: '100m', memory: '30Mi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
    },
    volumeMounts: [{ name: 'configuration', mountPath: '/etc/coredns', readOnly: true }],
  };
  return {
    replicas: 1,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        serviceAccountName: 'coredns',
        // Tests take away further nodes, and names are to resolve meanwhile.
        nodeSelector: { 'kubernetes.io/hostname': node },
        priorityClassName: 'system-cluster-critical',
        dnsPolicy: 'Default',
        terminationGracePeriodSeconds: 1,
        containers: [container],
        volumes: [{ name: 'configuration', configMap: { name: 'coredns' } }],
      },
    },
  };
}
