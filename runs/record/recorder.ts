import type { KubeClient } from '../../kube/client.ts';
import type { Log } from '../../kube/log.ts';
import type { RunStoreConnection } from '../connection.ts';
import type { ProjectUid } from '../types.ts';

/** Writes what happened to runs into their WorkflowRun objects; several recorders share the work. */
export declare function createRecorder(options: {
  conn: RunStoreConnection;
  kube: KubeClient;
  project: ProjectUid;
  namespace: string;
  log?: Log;
}): { run(signal: AbortSignal): Promise<void> };
