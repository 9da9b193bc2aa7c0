/** Keeps oauth2 credentials connected, with the scopes that workflows need. */
import { ifSpecChanged, ownKey, subscribe, watch, type Controller } from '../shared/controller.ts';
import type { Caches } from '../shared/caches.ts';
import { credentialRefs } from '../shared/credentialRefs.ts';
import type { Connections } from './connections.ts';

type ConnectionContext = { caches: Caches; connections: Connections };

export const connectionController: Controller<ConnectionContext> = {
  name: 'connection',
  concurrency: 16,
  watches: [
    subscribe(
      ({ connections }: ConnectionContext) => connections.received,
      (key) => [key],
    ),
    watch(
      ({ credentials }) => credentials,
      ifSpecChanged((credential) => (credential.spec.oauth2 ? ownKey(credential) : [])),
    ),
    // Requested scopes follow the workflows.
    watch(
      ({ workflows }) => workflows,
      ifSpecChanged(({ metadata: { namespace = '' }, spec }, _change, { credentials }) =>
        credentialRefs(spec)
          .filter(({ name }) => credentials.get(namespace, name)?.spec.oauth2)
          .map(({ name }) => ({ namespace, name })),
      ),
    ),
  ],
  reconcile: (key, { connections }) => connections.reconcile(key),
};
