/** Reads what the demo's mail server has received, through the API server, so that it works on every cluster. */
import type { Cluster } from '../cluster/cluster.ts';
import { demoNamespace } from './install.ts';
import { kubectl } from './kubectl.ts';
import type { ReceivedMail } from './mailServer.ts';

const messages = `/api/v1/namespaces/${demoNamespace}/services/mail:http/proxy/messages`;

/** All mails so far, oldest first. */
export async function receivedMails(cluster: Cluster): Promise<ReceivedMail[]> {
  return JSON.parse(await kubectl(cluster, ['get', '--raw', messages])) as ReceivedMail[];
}
