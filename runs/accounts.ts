import type { RunStoreConnection } from './connection.ts';
import type { ProjectUid, Unavailable } from './types.ts';

/** The name of the account of a project's runner pool. */
export declare function poolAccount(project: ProjectUid): string;

export declare function ensurePoolAccount(
  conn: RunStoreConnection,
  project: ProjectUid,
  passwordSha256: string,
): Promise<{ outcome: 'done'; changed: boolean } | Unavailable>;

export declare function hasPoolAccount(
  conn: RunStoreConnection,
  project: ProjectUid,
): Promise<boolean | Unavailable>;

export declare function dropPoolAccount(
  conn: RunStoreConnection,
  project: ProjectUid,
): Promise<{ outcome: 'done' } | Unavailable>;

/** The aclfile: operator, gateway, probes, and the pool accounts of an existing file. */
export declare function aclFile(
  passwords: { operatorPasswordSha256: string; gatewayPasswordSha256: string },
  existing?: string,
): string;
