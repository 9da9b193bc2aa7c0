/**
 * Puts questions to token endpoints, with the secret of the client. Only while this operator leads, and not too many of one project at
 * the same time: one whose provider does not answer must not hold up the others.
 */
import type { Credential } from '../../api/kinds.ts';
import type { KubeClient } from '../../kube/client.ts';
import { WaitingError } from '../../kube/controller.ts';
import { secrets } from '../../kube/resource.ts';
import type { Egress } from '../../nodes/egress/egress.ts';
import type { Asking, Issued } from './endpoint.ts';

const BUSY_MS = 250;
const MOST_OF_PROJECT = 4;

export type AskOptions = {
  client: Pick<KubeClient, 'find'>;
  /** Where it may connect to. */
  egress: Egress;
  isLeading: () => boolean;
};

/** What keeps it from being asked is a failure like those of providers. Throws a WaitingError where it is not its turn. */
export type Ask = (credential: Credential, question: (asking: Asking) => Promise<Issued>) => Promise<Issued>;

export function createAsk({ client, egress, isLeading }: AskOptions): Ask {
  const underWay = new Map<string, number>();

  async function inTurn<T>(namespace: string, question: () => Promise<T>): Promise<T> {
    const count = underWay.get(namespace) ?? 0;
    if (count >= MOST_OF_PROJECT) throw new WaitingError('others of the project are asking', BUSY_MS);
    if (!isLeading()) throw new WaitingError('another operator may lead by now', BUSY_MS);
    underWay.set(namespace, count + 1);
    try {
      return await question();
    } finally {
      const left = (underWay.get(namespace) ?? 1) - 1;
      if (left > 0) underWay.set(namespace, left);
      else underWay.delete(namespace);
    }
  }

  return async ({ metadata: { namespace = '' }, spec: { oauth2 } }, question) => {
    if (!oauth2) throw new Error('only a credential of kind oauth2 is connected');
    const ref = oauth2.clientSecretRef;
    const data = ref && (await client.find(secrets, { namespace, name: ref.name }))?.data;
    const value = ref && data?.[ref.key];
    if (ref && value === undefined)
      return { outcome: 'failed', message: `Secret ${ref.name} has no key ${ref.key}` };
    const clientSecret = value === undefined ? undefined : decoded(value);
    return inTurn(namespace, () => question({ spec: oauth2, clientSecret, egress }));
  };
}

/** Files and `echo` end with a line break that nobody meant. */
function decoded(value: string): string {
  return Buffer.from(value, 'base64')
    .toString('utf8')
    .replace(/[\r\n]+$/, '');
}
