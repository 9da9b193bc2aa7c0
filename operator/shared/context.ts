/** What every reconcile is given. `main.ts` makes it once; tests make it with what they need. */
import type { Audit } from '../../api/audit/audit.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Clock } from '../../kube/clock.ts';
import type { Log } from '../../kube/log.ts';
import type { RunStoreConnection } from '../../store/connection.ts';
import type { OperatorConfig } from './config.ts';
import type { BotHolders } from '../bots/holders.ts';
import type { Connections } from '../oauth/connections.ts';
import type { GatewayView } from '../gateways/view.ts';
import type { PoolRefusal } from '../project/readiness.ts';
import type { PodProblem } from '../pods/rollout.ts';
import type { AppliedSettings } from '../settings/controller.ts';
import type { Registrations } from '../registration/controller.ts';
import type { Refusal } from '../pods/cronJobRefusal.ts';
import type { FullProjects } from '../store/fullProjects.ts';
import type { ProjectStore } from '../store/projects.ts';
import type { WebhookSecrets } from '../webhooks/material.ts';
import type { Caches } from './caches.ts';

export type OperatorContext = {
  client: KubeClient;
  caches: Caches;
  conn: RunStoreConnection;
  store: ProjectStore;
  gateways: GatewayView;
  /** What the gateway verifies callers of webhooks with. */
  webhooks: WebhookSecrets;
  /** Which workflow has which bot. */
  bots: BotHolders;
  /** How the bots of credentials are registered. */
  registrations: Registrations;
  /** The accounts of oauth2 credentials. */
  connections: Connections;
  /** By namespace: why the API server refuses an object of the runner pool there. */
  refusedPools: Map<string, PoolRefusal>;
  /** By namespace: why the API server does not take the CronJob that polls accounts there. */
  refusedPolls: Map<string, Refusal>;
  /** By namespace: the Secrets that the runners' Role names, as it was applied last by this process. */
  grantedSecrets: Map<string, readonly string[]>;
  /** By namespace: why a pod of a runner pool that has not rolled out is not ready. */
  podProblems: Map<string, PodProblem>;
  /** By namespace: with which ProjectSettings the runner pool was applied last. */
  appliedSettings: Map<string, AppliedSettings>;
  /** Which projects have filled their share of the run store. */
  fullProjects: FullProjects;
  config: OperatorConfig;
  log: Log;
  /** Who did what, as far as objects say it. */
  audit: Audit;
  clock: Clock;
};
