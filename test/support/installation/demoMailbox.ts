/**
 * The mail of the demo's servers, through the API server, so that it works on every cluster: what was sent,
 * and what comes in.
 */
import { demoNamespace } from './install.ts';
import { kubectl, readPath, type ClusterAccess } from '../cluster/kubectl.ts';
import type { ReceivedMail } from '../providers/mail/mailServer.ts';

const messages = `/api/v1/namespaces/${demoNamespace}/services/mail:http/proxy/messages`;

/** All mails so far, oldest first. */
export async function receivedMails(cluster: ClusterAccess): Promise<ReceivedMail[]> {
  return readPath(cluster, messages);
}

/**
 * Puts a mail (RFC 5322) into the INBOX of a user of the IMAP server, as the mail server of a provider does
 * it.
 */
export async function deliverMail(cluster: ClusterAccess, user: string, mail: string): Promise<void> {
  const deliver = ['exec', '-i', '-n', demoNamespace, 'deployment/imap', '--'];
  await kubectl(cluster, [...deliver, '/usr/lib/dovecot/dovecot-lda', '-d', user], { input: mail });
}
