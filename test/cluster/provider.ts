/** What a kind of cluster must be able to do, and what a running one offers. */
import type { Progress } from '../support/process/progress.ts';

export type ClusterRequest = {
  name: string;
  progress: Progress;
  /** Have the API server write down who did what (at `auditLog`); left out, it stays as it is. */
  audit?: boolean;
  /**
   * From 1 to 9. Left out: as many as it has, and a new cluster one. Only the built-in one can have more.
   */
  nodes?: number;
};

export type Cluster = {
  name: string;
  provider: 'builtin' | 'kind' | 'current';
  /** Of a user who may do everything. */
  kubeconfigPath: string;
  /** Has kubectl and helm, made for this version of Kubernetes where the cluster is ours. */
  binDir: string;
  /** NodePort services with a port of this range answer on that port of 127.0.0.1. */
  nodePortRange?: [number, number];
  /** JSON lines of audit.k8s.io/v1, when the cluster writes them. */
  auditLog?: string;
  /** Makes the image of a `docker-archive` file known to the nodes under that reference. */
  loadImage: (archivePath: string, reference: string) => Promise<void>;
  /** Keeps one program of the cluster away until it is started; only the built-in one can. */
  stopPart?: (part: string) => Promise<void>;
  startPart?: (part: string) => Promise<void>;
  down: () => Promise<void>;
};

export type ClusterAccess = Pick<Cluster, 'kubeconfigPath' | 'binDir'>;

export type PartStatus = { part: string; state: 'works' | 'ended' | 'ill'; detail: string };

export type ClusterProvider = {
  name: Cluster['provider'];
  up: (request: ClusterRequest) => Promise<Cluster>;
  /** Removes the cluster and all that was made for it. Nothing to remove is no error. */
  down: (name: string, progress: Progress) => Promise<void>;
  /** Undefined when there is no such cluster. */
  status: (name: string) => Promise<PartStatus[] | undefined>;
  /**
   * What reaches the cluster as it is, without starting anything. Undefined when there is no such cluster.
   */
  access: (name: string, progress: Progress) => Promise<ClusterAccess | undefined>;
};
