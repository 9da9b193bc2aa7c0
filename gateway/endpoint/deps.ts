/** What the listeners are built from. `main.ts` makes it once; tests make it with what they need. */
import type { Audit } from '../../api/audit/audit.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Log } from '../../kube/log.ts';
import type { PassThrough } from '../../kube/passThrough.ts';
import type { RunStoreConnection } from '../../runs/connection.ts';
import type { ReplyWaiter } from '../../runs/reply.ts';
import type { AccessLog } from '../http/accessLog.ts';
import type { Health } from './health.ts';
import type { Access } from '../access/access.ts';
import type { RecordLists } from './records.ts';
import type { Limits } from '../limits/limits.ts';
import type { Metrics, Open } from '../http/metrics.ts';
import type { RouteTable } from '../routing/table.ts';

export type ConsoleSettings = {
  /** The folder with index.html and assets. */
  dir: string;
  /** The origin that browsers reach it at; undefined: whatever they say. */
  url: string | undefined;
  /** After how long without use a session ends. */
  idleMs: number;
  /** Undefined: people sign in with tokens alone. */
  oidc: OidcSettings | undefined;
};

/** The provider whose ID tokens the API server takes. */
export type OidcSettings = {
  issuer: string;
  clientID: string;
  /** Left out for a public client. */
  clientSecret?: string;
  scopes: readonly string[];
  /** What the button says. */
  label: string;
};

export type GatewayDeps = {
  routes: RouteTable;
  runs: RunStoreConnection;
  waiter: ReplyWaiter;
  access: Access;
  /** Reads runs that are no longer in the run store, after their reader was authorised. */
  client: Pick<KubeClient, 'find'>;
  /** Asks the API server in the name of whoever calls. */
  kube: PassThrough;
  /** The namespaces whose workflows are served; none: all. */
  namespaces: readonly string[];
  /** Where the world reaches the public listener, without a path; undefined: nobody has said it. */
  publicURL: string | undefined;
  /** Undefined: there is none. */
  console: ConsoleSettings | undefined;
  /** Lists such runs. */
  records: RecordLists;
  health: Health;
  metrics: Metrics;
  /** How much is open, for the metrics. */
  open: Open;
  limits: Limits;
  /** Aborted when this replica is told to go: answers end their connections from then on. */
  draining: AbortSignal;
  /** Aborted when the listeners close: streams end then. */
  closing: AbortSignal;
  log: Log;
  /** Who did what. */
  audit: Audit;
  /** Left out: there is none. */
  accessLog?: AccessLog;
};
