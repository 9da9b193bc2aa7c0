/**
 * Polls the accounts of the project while the runner serves: one runner at a time, by a lease. At the
 * hand-over between runners, and between a runner and poll pods, claims of single polls guarantee that no
 * account is polled by two at once, and cursors that nothing is missed.
 */
import type { CredentialSpec } from '../../api/credential.ts';
import type { Log } from '../../kube/log.ts';
import type { CredentialAccess } from '../../nodes/contract/node.ts';
import type { Egress } from '../../nodes/egress/egress.ts';
import type { Poller } from '../../nodes/contract/poller.ts';
import { loadPoller } from '../../nodes/pollers.ts';
import type { Pace } from '../../runs/pace.ts';
import { isUnavailable, type RunStoreConnection } from '../../store/connection.ts';
import { keysOf, type ProjectUid } from '../../store/keys.ts';
import {
  claimPollerLease,
  releasePollerLease,
  RENEW_LEASE_MS,
  type PollerLease,
} from '../../store/polling/pollerLease.ts';
import { createAccounts, type Accounts } from './accounts.ts';
import type { ProjectAccess } from './pollAccount.ts';

export type RunnerPollsOptions = {
  conn: RunStoreConnection;
  project: ProjectUid;
  /** The name of the runner. */
  runner: string;
  credentials: {
    get(name: string): Promise<CredentialAccess>;
    /** With its current Secrets. */
    fresh(name: string, spec: CredentialSpec): Promise<CredentialAccess>;
  };
  egress: Egress;
  /** Loads the poller of a kind of trigger. Default: that of `nodes/pollers.ts`. */
  poller?: (kind: string) => Promise<Poller<unknown>>;
  /** When to read the run store. */
  pace: Pace;
  log: Log;
};

const RETRY_MS = 500;
/** How long a lost message can delay the first polled trigger of a project while the runner is busy. */
const NO_TRIGGERS_MS = 10_000;

/** Polls until the signal is aborted, then gives up the lease. */
export function createRunnerPolls(options: RunnerPollsOptions): { run(signal: AbortSignal): Promise<void> } {
  return { run: (signal) => pollUntilStopped(options, signal) };
}

async function pollUntilStopped(options: RunnerPollsOptions, signal: AbortSignal): Promise<void> {
  const { conn, project, runner, pace, log, poller = loadPoller } = options;
  const { access, invalidate } = createAccess(options);
  const deps = { conn, project, pod: runner, poller, access, invalidate, leave: signal, log };
  const accounts = createAccounts(deps, pace.raise);
  const noteLease = createLeaseNotes(accounts);
  let claimAt = -Infinity;
  const claimSoon = (): void => {
    claimAt = -Infinity;
    pace.raise();
  };
  const following = conn.subscriber().subscribe(keysOf(project).polls, claimSoon);
  try {
    let lease: PollerLease | undefined;
    while (!signal.aborted) {
      if (lease === undefined || performance.now() >= claimAt) {
        lease = await claimPollerLease(conn, project, runner);
        claimAt = performance.now() + leaseCheckMs(lease);
        noteLease(lease);
      }
      const dueAt = lease.outcome === 'claimed' ? accounts.startDue() : undefined;
      const busyMs = Math.min(claimAt, dueAt ?? Infinity) - performance.now();
      // A pulse says when the project has a polled trigger again.
      await pace.wait({ busyMs, ...(lease.outcome !== 'none' && { nextMs: busyMs }) }, signal);
      if (lease.outcome === 'none') claimAt = -Infinity;
    }
    await Promise.all(accounts.polls());
  } finally {
    void following.then((it) => it.end());
    await releasePollerLease(conn, project, runner);
  }
}

/** After how many milliseconds the lease is to be claimed or renewed. */
function leaseCheckMs(lease: PollerLease): number {
  if (isUnavailable(lease)) return RETRY_MS;
  if (lease.outcome === 'none') return NO_TRIGGERS_MS;
  return lease.outcome === 'wait' ? Math.max(RETRY_MS, lease.ms) : RENEW_LEASE_MS;
}

/** Takes over the triggers of a lease. After a change of one, all are asked whether they are due. */
function createLeaseNotes(accounts: Accounts): (lease: PollerLease) => void {
  let changes: string | undefined;
  return (lease) => {
    if (lease.outcome !== 'claimed') return;
    accounts.add(lease.triggers);
    if (changes !== undefined && changes !== lease.changes) accounts.recheck();
    changes = lease.changes;
  };
}

/** The credentials of the runner. After a failed poll the next one reads the Secrets of its account again. */
function createAccess({ credentials, egress }: Pick<RunnerPollsOptions, 'credentials' | 'egress'>): {
  access: () => Promise<ProjectAccess>;
  invalidate: (credential: string) => void;
} {
  const invalid = new Set<string>();
  const credential: ProjectAccess['credential'] = async (name) => {
    const known = await credentials.get(name);
    return invalid.delete(name) ? credentials.fresh(name, known.spec) : known;
  };
  return {
    access: async () => ({ credential, egress }),
    invalidate: (name) => void invalid.add(name),
  };
}
