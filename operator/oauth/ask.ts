/** Calls token endpoints with the client secret, and only while this operator leads. */
import type { Credential } from '../../api/kinds.ts';
import type { KubeClient } from '../../kube/client.ts';
import { WaitingError } from '../../kube/controller.ts';
import { secrets } from '../../kube/resource.ts';
import type { Egress } from '../../nodes/egress/egress.ts';
import type { Asking, Issued } from './endpoint.ts';

const AGAIN_MS = 1_000;

export type AskOptions = {
  client: Pick<KubeClient, 'find'>;
  /** Limits where it may connect to. */
  egress: Egress;
  isLeading: () => boolean;
};

type Failed = Extract<Issued, { outcome: 'failed' }>;

/**
 * A missing client secret is a failure like those of providers. Throws a WaitingError while another operator
 * may lead.
 */
export type Ask = <T>(
  credential: Credential,
  question: (asking: Asking) => Promise<T>,
) => Promise<T | Failed>;

export function createAsk({ client, egress, isLeading }: AskOptions): Ask {
  return async ({ metadata: { namespace = '' }, spec: { oauth2 } }, question) => {
    if (!oauth2) throw new Error('only a credential of kind oauth2 can be connected');
    const ref = oauth2.clientSecretRef;
    const data = ref && (await client.find(secrets, { namespace, name: ref.name }))?.data;
    const value = ref && data?.[ref.key];
    const clientSecret = value === undefined ? undefined : decoded(value);
    if (ref && !clientSecret)
      return { outcome: 'failed', message: `Secret ${ref.name} has no key ${ref.key}, or it is empty` };
    if (!isLeading()) throw new WaitingError('another operator may lead', AGAIN_MS);
    return question({ spec: oauth2, clientSecret, egress });
  };
}

/** Files and `echo` end with an unintended line break. */
function decoded(value: string): string {
  return Buffer.from(value, 'base64')
    .toString('utf8')
    .replace(/[\r\n]+$/, '');
}
