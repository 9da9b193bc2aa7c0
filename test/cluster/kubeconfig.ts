/** Writes kubeconfig files with a client certificate inside. */
import { stringify } from 'yaml';

export type KubeconfigUser = {
  /** Name of cluster, user and context. */
  cluster: string;
  /** `https://host:port` */
  server: string;
  /** PEM, all three. */
  ca: string;
  cert: string;
  key: string;
};

/** The text of a kubeconfig whose only context is that user on that server. */
export function kubeconfig(user: KubeconfigUser): string {
  const name = user.cluster;
  return stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': name,
      clusters: [{ name, cluster: { server: user.server, 'certificate-authority-data': base64(user.ca) } }],
      users: [
        { name, user: { 'client-certificate-data': base64(user.cert), 'client-key-data': base64(user.key) } },
      ],
      contexts: [{ name, context: { cluster: name, user: name } }],
    },
    { lineWidth: 0 },
  );
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
