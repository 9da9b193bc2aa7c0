/** The dependencies of all routes. `main.ts` creates them; tests create what they need. */
import type { Audit } from '../../api/audit/audit.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Log } from '../../kube/log.ts';
import type { PassThrough } from '../../kube/passThrough.ts';
import type { RunStoreConnection } from '../../store/connection.ts';
import type { ReplyWaiter } from '../../runs/reply.ts';
import type { Submitter } from '../../runs/submitter.ts';
import type { AccessLog } from '../http/accessLog.ts';
import type { Health } from './health.ts';
import type { Access } from '../access/access.ts';
import type { RecordLists } from './records.ts';
import type { Limits } from '../limits/limits.ts';
import type { Metrics, Open } from '../http/metrics.ts';
import type { RouteTable } from '../routing/table.ts';

export type ConsoleSettings = {
  /** Folder with index.html and assets. */
  dir: string;
  /** Origin of the console in browsers; undefined: any. */
  url: string | undefined;
  /** A session ends after this time without use, in milliseconds. */
  idleMs: number;
  /** Undefined: users sign in with tokens only. */
  oidc: OidcSettings | undefined;
  /** Whether the console offers to ask a language model for drafts. The gateway itself asks none. */
  helpMeBuild: boolean;
};

/** The provider whose ID tokens the API server accepts. */
export type OidcSettings = {
  issuer: string;
  clientID: string;
  /** Left out for a public client. */
  clientSecret?: string;
  scopes: readonly string[];
  /** Label of the sign-in button. */
  label: string;
};

export type GatewayDeps = {
  routes: RouteTable;
  runs: RunStoreConnection;
  submit: Submitter;
  waiter: ReplyWaiter;
  access: Access;
  /** Reads runs that left the run store, for authorised callers only. */
  client: Pick<KubeClient, 'find'>;
  /** Sends requests to the API server with the caller's token. */
  kube: PassThrough;
  /** Namespaces to serve; empty: all. */
  namespaces: readonly string[];
  /** External URL of the public listener, without a path; undefined if not configured. */
  publicURL: string | undefined;
  /** Undefined: disabled. */
  console: ConsoleSettings | undefined;
  /** Lists such runs. */
  records: RecordLists;
  health: Health;
  metrics: Metrics;
  /** Counts for the metrics. */
  open: Open;
  limits: Limits;
  /** Aborted when this replica shuts down: each answer closes its connection from then on. */
  draining: AbortSignal;
  /** Aborted when the listeners close: streams end. */
  closing: AbortSignal;
  log: Log;
  /** The audit trail. */
  audit: Audit;
  /** Left out: disabled. */
  accessLog?: AccessLog;
};
