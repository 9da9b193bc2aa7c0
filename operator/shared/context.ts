/** What every part of the operator may use. It is created once, in `start.ts`. */
import type { Audit } from '../../api/audit/audit.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Clock } from '../../kube/clock.ts';
import type { Recorder } from '../../kube/events.ts';
import type { Log } from '../../kube/log.ts';
import type { RunStoreConnection } from '../../store/connection.ts';
import type { Caches } from './caches.ts';
import type { PoolAccounts } from './poolAccounts.ts';
import type { OperatorConfig } from './config.ts';

export type OperatorContext = {
  client: KubeClient;
  caches: Caches;
  conn: RunStoreConnection;
  accounts: PoolAccounts;
  config: OperatorConfig;
  log: Log;
  audit: Audit;
  /** Records Events of the Kubernetes API. */
  events: Pick<Recorder, 'record'>;
  clock: Clock;
};
