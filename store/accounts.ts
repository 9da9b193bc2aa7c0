/**
 * Accounts of the run store. The runner pool of a project can access the keys and channels of its project and
 * no others, also in scripts; the gateway those of all projects. Only the operator manages accounts. Nothing
 * is possible without an account.
 */
import {
  doneOrUnavailable,
  orUnavailable,
  type Done,
  type RunStoreConnection,
  type Unavailable,
} from './connection.ts';
import { keysOf, type ProjectUid } from './keys.ts';
import type { ServerCalls } from './replicas.ts';

const POOL_PREFIX = 'windlass-pool-';
export const OPERATOR_ACCOUNT = 'windlass-operator';
export const GATEWAY_ACCOUNT = 'windlass-gateway';
/** The account of the program beside the server that reloads its certificate. */
export const CERTIFICATE_ACCOUNT = 'windlass-certificate';

/** The commands of all scripts and calls. None of them can list keys of others. */
const RUN_COMMANDS = [
  'evalsha eval ping hello auth client|setname subscribe unsubscribe publish',
  'ssubscribe sunsubscribe spublish cluster|slots cluster|info',
  'time exists expire pttl unlink get set wait',
  'hget hmget hgetall hkeys hvals hscan hset hsetnx hdel hexists hincrby hstrlen copy rename',
  'zadd zrem zcard zscore zrange zrangebylex sadd srem sismember smembers',
  'lindex lrange lpop lpush ltrim rpush',
];
/**
 * It can change settings, so that its password never leaves the server's pod. It can access no key and no
 * channel.
 */
const CERTIFICATE_COMMANDS = ['ping hello auth client|setname config|set'];
const ADMIN_COMMANDS = [
  'scan info type acl|setuser acl|getuser acl|deluser acl|users acl|save',
  // The move to other servers.
  'client|list dump restore pexpiretime pexpireat',
];

const only = (commands: string[]) => [
  '-@all',
  ...commands.flatMap((line) => line.split(' ')).map((command) => `+${command}`),
];
const rules = (keys: string, channels: string, commands: string[]) => [
  `~${keys}`,
  `&${channels}`,
  ...only(commands),
];

/** The name of the account of a project's runner pool. */
export function poolAccount(project: ProjectUid): string {
  return POOL_PREFIX + project;
}

/**
 * Ensures the account of a runner pool with exactly this password (its SHA-256, in hex), and saves it if it
 * changed, on the replicas first: a promoted one has to know it. Call it periodically: a server that lost its
 * volume lost its accounts.
 */
export function ensurePoolAccount(
  conn: RunStoreConnection,
  project: ProjectUid,
  passwordSha256: string,
): Promise<{ outcome: 'done'; changed: boolean } | Unavailable> {
  const name = poolAccount(project);
  const { prefix } = keysOf(project);
  return orUnavailable(async () => {
    const rule = rules(`${prefix}*`, `${prefix}*`, RUN_COMMANDS);
    return { outcome: 'done', changed: await setAccounts(conn, [{ name, passwordSha256, rule }]) };
  });
}

/** The projects that have an account on some server. Throws as the connection does. */
export async function poolAccounts(conn: RunStoreConnection): Promise<ProjectUid[]> {
  return [...new Set((await accountsOfServers(conn)).flat())];
}

/** Those of these projects that have no account on some server. Throws as the connection does. */
export async function missingPoolAccounts(
  conn: RunStoreConnection,
  projects: readonly ProjectUid[],
): Promise<ProjectUid[]> {
  const servers = (await accountsOfServers(conn)).map((present) => new Set(present));
  return projects.filter((project) => servers.some((present) => !present.has(project)));
}

/** Of each primary: the projects that have an account there. */
async function accountsOfServers(conn: RunStoreConnection): Promise<ProjectUid[][]> {
  const users = await Promise.all((await conn.primaries()).map(({ command }) => command('acl', 'users')));
  return (users as string[][]).map((names) =>
    names.filter((name) => name.startsWith(POOL_PREFIX)).map((name) => name.slice(POOL_PREFIX.length)),
  );
}

/**
 * Removes the account and ends its connections. Saves also where it was gone: a process that removed it may
 * have ended before saving, and a restart of the server would restore it.
 */
export function dropPoolAccount(conn: RunStoreConnection, project: ProjectUid): Promise<Done> {
  return doneOrUnavailable(async () => {
    const drop = async (server: ServerCalls) => {
      await server.command('acl', 'deluser', poolAccount(project));
      await server.command('acl', 'save');
    };
    await eachServer(conn, drop);
  });
}

async function describe(server: ServerCalls, name: string): Promise<string> {
  return JSON.stringify(await server.command('acl', 'getuser', name));
}

/** The SHA-256, in hex, of the passwords of the operator and the gateway. */
export type PasswordHashes = { operatorSha256: string; gatewaySha256: string };

const ACL_RULES = {
  [OPERATOR_ACCOUNT]: rules('wl:*', 'wl:*', [...RUN_COMMANDS, ...ADMIN_COMMANDS]),
  [GATEWAY_ACCOUNT]: rules('wl:*', 'wl:*', RUN_COMMANDS),
  [CERTIFICATE_ACCOUNT]: only(CERTIFICATE_COMMANDS),
};

/**
 * Ensures the ACL users of the operator and the gateway with the rules of this version and these passwords,
 * and saves them if something changed. A server that keeps running through an upgrade has the accounts of the
 * version before.
 */
export function ensureAclUsers(
  conn: RunStoreConnection,
  { operatorSha256, gatewaySha256 }: PasswordHashes,
): Promise<{ outcome: 'done'; changed: boolean } | Unavailable> {
  const accounts = [
    { name: OPERATOR_ACCOUNT, passwordSha256: operatorSha256, rule: ACL_RULES[OPERATOR_ACCOUNT] },
    { name: GATEWAY_ACCOUNT, passwordSha256: gatewaySha256, rule: ACL_RULES[GATEWAY_ACCOUNT] },
  ];
  return orUnavailable(async () => ({ outcome: 'done', changed: await setAccounts(conn, accounts) }));
}

type Account = { name: string; passwordSha256: string; rule: string[] };

/** Sets accounts on all servers. Returns whether any was different there before. */
async function setAccounts(conn: RunStoreConnection, accounts: readonly Account[]): Promise<boolean> {
  let changed = false;
  const setOn = async (server: ServerCalls): Promise<void> => {
    const changes: boolean[] = [];
    for (const account of accounts) changes.push(await setAccount(server, account));
    if (!changes.includes(true)) return;
    await server.command('acl', 'save');
    changed = true;
  };
  await eachServer(conn, setOn);
  return changed;
}

/**
 * Works with each primary, after its replicas. One that fails does not keep the others from it; then throws
 * its error.
 */
async function eachServer(
  conn: RunStoreConnection,
  work: (server: ServerCalls) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  for (const primary of await conn.primaries()) {
    try {
      await primary.eachReplica(work);
      await work(primary);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

/**
 * Sets an account in one command, so that its users never lose a right in between. Returns whether it was
 * different before.
 */
async function setAccount(server: ServerCalls, { name, passwordSha256, rule }: Account): Promise<boolean> {
  const before = await describe(server, name);
  await server.command('acl', 'setuser', name, 'reset', 'on', `#${passwordSha256}`, ...rule);
  return before !== (await describe(server, name));
}

/**
 * Nobody can log in as `default`, but it may do everything: a starting server replays its log as that
 * account, and would silently leave out a transaction of a script that the account may not execute.
 */
const DEFAULT_ACCOUNT = 'user default reset off ~* &* +@all';

/**
 * The ACL users that no project owns, one per line of the aclfile. `#windlass-operator` and the like are
 * placeholders for the SHA-256 of the account's password. The chart has a copy, which the pod of Redis fills
 * in (charts/windlass/files/redis).
 */
export function aclUsers(): string {
  const lines = Object.entries(ACL_RULES).map(([name, rule]) =>
    ['user', name, 'reset', 'on', `#${name}`, ...rule].join(' '),
  );
  return [DEFAULT_ACCOUNT, ...lines, ''].join('\n');
}
