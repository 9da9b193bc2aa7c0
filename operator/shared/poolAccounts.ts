/**
 * The accounts of runner pools in the run store: one for each project, which the operator creates; or
 * one that was supplied from outside for all of them, because the service does not let the operator
 * manage accounts. With a supplied one nothing in the run store keeps runners of a project from the
 * keys of others.
 */
import {
  dropPoolAccount,
  ensurePoolAccount,
  missingPoolAccounts,
  poolAccount,
  poolAccounts,
} from '../../store/accounts.ts';
import type { Done, RunStoreConnection, Unavailable } from '../../store/connection.ts';
import type { ProjectUid } from '../../store/keys.ts';
import { generatePassword } from './password.ts';

export type PoolAccount = { username: string; password: string };

export type PoolAccounts = {
  /**
   * The account of a project's runners. `kept`: the password in the Secret of the pool; empty: none
   * yet.
   */
  accountOf: (project: ProjectUid, kept: string) => PoolAccount;
  /** See `ensurePoolAccount`. */
  ensure: (
    project: ProjectUid,
    passwordSha256: string,
  ) => Promise<{ outcome: 'done'; changed: boolean } | Unavailable>;
  /** Removes the account of a project. */
  drop: (project: ProjectUid) => Promise<Done>;
  /** The projects that have an account of their own. Throws as the connection does. */
  projects: () => Promise<ProjectUid[]>;
  /** Those of these projects that have none, but should have. Throws as the connection does. */
  missing: (projects: readonly ProjectUid[]) => Promise<ProjectUid[]>;
};

/** `supplied`: the account of all runners. Left out: each project has its own. */
export function createPoolAccounts(conn: RunStoreConnection, supplied?: PoolAccount): PoolAccounts {
  if (supplied === undefined) {
    return {
      accountOf: (project, kept) => ({
        username: poolAccount(project),
        password: kept === '' ? generatePassword() : kept,
      }),
      ensure: (project, passwordSha256) => ensurePoolAccount(conn, project, passwordSha256),
      drop: (project) => dropPoolAccount(conn, project),
      projects: () => poolAccounts(conn),
      missing: (projects) => missingPoolAccounts(conn, projects),
    };
  }
  return {
    accountOf: () => supplied,
    ensure: () => Promise.resolve({ outcome: 'done', changed: false }),
    drop: () => Promise.resolve({ outcome: 'done' }),
    projects: () => Promise.resolve([]),
    missing: () => Promise.resolve([]),
  };
}
