/** The bucket `letters` of the demo's S3 server as people use it, from outside of the cluster. */
import { forward } from './installedGateway.ts';
import { demoNamespace } from './install.ts';
import type { ClusterAccess } from '../cluster/kubectl.ts';
import { putObject } from '../providers/s3/storedObjects.ts';

/** As `manifests/s3-server.yaml` has it. */
const ACCESS = { bucket: 'letters', id: 'demo-access-key', secret: 'demo-secret-access-key' };

/** Writes a text file into the bucket. */
export async function putInBucket(cluster: ClusterAccess, key: string, text: string): Promise<void> {
  const { url: endpoint, close } = await forward(cluster, demoNamespace, 's3');
  try {
    await putObject({ ...ACCESS, endpoint }, { key, body: text, type: 'text/plain' });
  } finally {
    close();
  }
}
