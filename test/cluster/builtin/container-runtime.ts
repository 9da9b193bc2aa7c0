/**
 * How containerd runs pods of one node: its files in the node's folder, addresses from the range of its pods.
 */
import { join } from 'node:path';
import { stringify } from 'yaml';
import { clusterImages } from '../build.ts';
import { kubeletIdentity } from './identities.ts';
import { network, type Layout, type NodeLayout } from './layout.ts';

/** Its root and state are at the usual places, which the node has for itself. */
export function containerdConfiguration(node: NodeLayout, cniPrograms: string): string {
  return `version = 2
oom_score = 0

[grpc]
address = "${node.containerdSocket}"

[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "${clusterImages.pause.reference}"
# Without CAP_SYS_RESOURCE a process may not lower oom_score_adj, and runc would end at once.
restrict_oom_score_adj = true

[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "${cniPrograms}"
conf_dir = "${node.cni}"
`;
}

/**
 * Pods reach each other, services and the nodes. There is no way to anything else, so that trying fails at
 * once.
 */
export function cniConfiguration({ podRange }: NodeLayout): string {
  return JSON.stringify(
    {
      cniVersion: '1.0.0',
      name: 'pods',
      plugins: [
        {
          type: 'bridge',
          bridge: 'pods0',
          isGateway: true,
          hairpinMode: true,
          ipMasq: false,
          ipam: {
            type: 'host-local',
            ranges: [[{ subnet: podRange }]],
            routes: [network.serviceRange, network.podRange, network.nodeRange].map((dst) => ({ dst })),
          },
        },
        { type: 'portmap', capabilities: { portMappings: true } },
      ],
    },
    undefined,
    2,
  );
}

export function kubeletConfiguration(
  { certificates }: Pick<Layout, 'certificates'>,
  node: NodeLayout,
): string {
  const identity = join(certificates, kubeletIdentity(node.number));
  return stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    containerRuntimeEndpoint: `unix://${node.containerdSocket}`,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: `${certificates}/ca.crt` },
    },
    authorization: { mode: 'Webhook' },
    tlsCertFile: `${identity}.crt`,
    tlsPrivateKeyFile: `${identity}.key`,
    clusterDNS: [network.dnsService],
    clusterDomain: network.domain,
    // The machine's own could point at a resolver of the machine, and DNS would go round in circles.
    resolvConf: '/dev/null',
    cgroupDriver: 'cgroupfs',
    cgroupRoot: node.cgroup,
    failCgroupV1: false,
    failSwapOn: false,
    oomScoreAdj: 0,
    maxPods: 250,
    // All of them: what the node says that it has is how others know what need not be loaded.
    nodeStatusMaxImages: -1,
    serializeImagePulls: false,
    // Tests kill the same container again and again: as shipped, the sixth restart would come after five
    // minutes.
    featureGates: { KubeletCrashLoopBackOffMax: true },
    crashLoopBackOff: { maxContainerRestartPeriod: '2s' },
    // A disk that is fuller than the defaults allow is still good enough for tests.
    evictionHard: {
      'nodefs.available': '1%',
      'imagefs.available': '1%',
      'nodefs.inodesFree': '1%',
      'memory.available': '100Mi',
    },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
  });
}
