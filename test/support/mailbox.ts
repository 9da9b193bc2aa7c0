/** Reads what the demo's mail server has received, through the API server, so that it works on every cluster. */
import { demoNamespace } from './install.ts';
import { kubectl, type ClusterAccess } from './kubectl.ts';
import type { ReceivedMail } from './mailServer.ts';

const messages = `/api/v1/namespaces/${demoNamespace}/services/mail:http/proxy/messages`;

/** All mails so far, oldest first. */
export async function receivedMails(cluster: ClusterAccess): Promise<ReceivedMail[]> {
  return JSON.parse(await kubectl(cluster, ['get', '--raw', messages])) as ReceivedMail[];
}
