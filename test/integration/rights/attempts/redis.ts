/** With the password of its own pool, straight to Redis. */
import { createHash } from 'node:crypto';
import { claimRuns } from '../../../../runs/claim.ts';
import { connectRunStore, type RunStoreConnection } from '../../../../store/connection.ts';
import { cancelRun } from '../../../../runs/cancel.ts';
import { readRun } from '../../../../runs/read.ts';
import { submit } from '../../../../runs/submit.ts';
import { askRedis } from '../../../support/gateway/rawCalls.ts';
import { submissionOf } from '../../../support/runStore/runStore.ts';
import type { TwoProjects } from '../../../support/rights/twoProjects.ts';
import type { Attempt } from './attempt.ts';

type Keys = {
  /** The victim's run, and whatever begins like the victim's keys. */
  run: string;
  theirs: string;
  /** What mallory's keys begin with. */
  own: string;
  projects: TwoProjects;
};

const READ = "return redis.call('HGETALL', KEYS[1])";
const DENIED = /NOPERM|No permissions|can't (access|run|publish)|not allowed/;

/** The commands after one another, as the pool's account. */
function commands(
  what: string,
  of: (keys: Keys) => (string | number)[][],
  refused: RegExp = DENIED,
): Attempt {
  const attempt = async (projects: TwoProjects): Promise<string> => {
    const { harness, victim, mallory, known } = projects;
    const theirs = `wl:{${victim.uid}}:`;
    const keys = { theirs, run: `${theirs}run:${known.waiting}`, own: `wl:{${mallory.uid}}:`, projects };
    const words = of(keys).map((command) => command.map(String));
    return askRedis(harness.redis.port, mallory.pool, ...words);
  };
  return { what: `Redis: ${what}`, attempt, refused };
}

const one = (what: string, of: (keys: Keys) => (string | number)[]): Attempt =>
  commands(what, (keys) => [of(keys)]);

const script = (what: string, lua: (keys: Keys) => string, refused?: RegExp): Attempt =>
  commands(`a script ${what}`, (keys) => [['EVAL', lua(keys), 0]], refused);

/** A transition of ours, which anybody can read in the source, of the victim's project. */
function transition(
  what: string,
  call: (conn: RunStoreConnection, projects: TwoProjects) => Promise<unknown>,
): Attempt {
  const attempt = async (projects: TwoProjects): Promise<string> => {
    const { harness, mallory } = projects;
    const conn = connectRunStore({ url: harness.redis.url, name: 'mallory', ...mallory.pool });
    await conn.ready();
    const answer = await call(conn, projects).catch((error: Error) => error.message);
    await conn.close();
    return JSON.stringify(answer);
  };
  return { what: `Redis: ${what}`, attempt, refused: /unavailable|NOPERM/ };
}

const looking: Attempt[] = [
  one('KEYS', () => ['KEYS', '*']),
  one('SCAN', ({ theirs }) => ['SCAN', 0, 'MATCH', `${theirs}*`, 'COUNT', 10_000]),
  one('RANDOMKEY', () => ['RANDOMKEY']),
  one('DBSIZE', () => ['DBSIZE']),
  one('HGETALL of the victim’s run', ({ run }) => ['HGETALL', run]),
  one('HGET of its input', ({ run }) => ['HGET', run, 'input']),
  one('EXISTS of it', ({ run }) => ['EXISTS', run]),
  one('TYPE of it', ({ run }) => ['TYPE', run]),
  one('DUMP of it', ({ run }) => ['DUMP', run]),
  one('OBJECT of it', ({ run }) => ['OBJECT', 'ENCODING', run]),
  one('MEMORY USAGE of it', ({ run }) => ['MEMORY', 'USAGE', run]),
  one('DEBUG OBJECT of it', ({ run }) => ['DEBUG', 'OBJECT', run]),
  one('GET of a revision', ({ theirs, projects }) => ['GET', `${theirs}rev:${projects.known.revision}`]),
  one('HGETALL of meta', ({ theirs }) => ['HGETALL', `${theirs}meta`]),
  one('LRANGE of events', ({ theirs, projects }) => [
    'LRANGE',
    `${theirs}ev:${projects.known.waiting}`,
    0,
    -1,
  ]),
  one('a key of both hash tags', ({ theirs, own }) => ['GET', `${theirs}${own}x`]),
  one('SORT that reads others’ keys', ({ own, theirs }) => [
    'SORT',
    `${own}q`,
    'BY',
    'nosort',
    'GET',
    `${theirs}rev:*`,
  ]),
  one('SORT that stores elsewhere', ({ own, theirs }) => ['SORT', `${own}q`, 'STORE', `${theirs}q`]),
  one('INFO', () => ['INFO', 'everything']),
  one('CLIENT LIST', () => ['CLIENT', 'LIST']),
  one('CLIENT TRACKING of the victim’s prefix', ({ theirs }) => [
    'CLIENT',
    'TRACKING',
    'on',
    'BCAST',
    'PREFIX',
    theirs,
  ]),
  one('MONITOR', () => ['MONITOR']),
  one('SLOWLOG', () => ['SLOWLOG', 'GET']),
  one('ACL LOG', () => ['ACL', 'LOG']),
  one('PUBSUB CHANNELS', () => ['PUBSUB', 'CHANNELS', '*']),
  one('SUBSCRIBE to the victim’s queue', ({ theirs }) => ['SUBSCRIBE', `${theirs}q`]),
  one('SUBSCRIBE to a channel of its own and the victim’s run', ({ own, run }) => [
    'SUBSCRIBE',
    `${own}q`,
    run,
  ]),
  one('PSUBSCRIBE', () => ['PSUBSCRIBE', '*']),
  one('SSUBSCRIBE', ({ theirs }) => ['SSUBSCRIBE', `${theirs}q`]),
  one('keyspace events', ({ run }) => ['SUBSCRIBE', `__keyspace@0__:${run}`]),
  one('SYNC as a replica', () => ['SYNC']),
  one('PSYNC as a replica', () => ['PSYNC', '?', -1]),
];

const changing: Attempt[] = [
  one('SET over the victim’s revision', ({ theirs, projects }) => [
    'SET',
    `${theirs}rev:${projects.known.revision}`,
    '{}',
  ]),
  one('UNLINK of its own key and the victim’s', ({ own, run }) => ['UNLINK', `${own}x`, run]),
  one('EXPIRE of the victim’s run', ({ run }) => ['EXPIRE', run, 1]),
  one('HSET of its phase', ({ run }) => ['HSET', run, 'phase', 'Queued']),
  one('ZADD to the victim’s queue', ({ theirs, projects }) => [
    'ZADD',
    `${theirs}q`,
    0,
    `${projects.known.workflowUID} 1 mallorys-run`,
  ]),
  one('PUBLISH to the victim’s runners', ({ theirs }) => ['PUBLISH', `${theirs}q`, 'x']),
  one('RENAME', ({ run, own }) => ['RENAME', run, `${own}x`]),
  one('COPY', ({ run, own }) => ['COPY', run, `${own}x`]),
  one('RESTORE', ({ run }) => ['RESTORE', run, 0, '', 'REPLACE']),
  one('MIGRATE', ({ run }) => ['MIGRATE', '127.0.0.1', 1, run, 0, 100]),
  one('SELECT', () => ['SELECT', 1]),
  one('SWAPDB', () => ['SWAPDB', 0, 1]),
  one('FLUSHALL', () => ['FLUSHALL']),
  one('FLUSHDB', () => ['FLUSHDB']),
  one('CONFIG GET', () => ['CONFIG', 'GET', '*']),
  one('CONFIG SET', () => ['CONFIG', 'SET', 'notify-keyspace-events', 'KEA']),
  one('ACL LIST', () => ['ACL', 'LIST']),
  one('ACL SETUSER of itself', ({ projects }) => ['ACL', 'SETUSER', projects.mallory.pool.username, '~*']),
  one('ACL GETUSER of the victim', ({ projects }) => ['ACL', 'GETUSER', projects.victim.pool.username]),
  one('CLIENT KILL', () => ['CLIENT', 'KILL', 'TYPE', 'normal']),
  one('CLIENT PAUSE', () => ['CLIENT', 'PAUSE', 1_000]),
  one('MODULE LOAD', () => ['MODULE', 'LOAD', '/tmp/x.so']),
  one('REPLICAOF', () => ['REPLICAOF', '127.0.0.1', 1]),
  one('SHUTDOWN', () => ['SHUTDOWN', 'NOSAVE']),
  one('BGREWRITEAOF', () => ['BGREWRITEAOF']),
  one('SCRIPT LOAD', () => ['SCRIPT', 'LOAD', 'return 1']),
  one('SCRIPT FLUSH', () => ['SCRIPT', 'FLUSH']),
  one('FUNCTION LOAD', () => ['FUNCTION', 'LOAD', '#!lua name=x\nredis.register_function("x", print)']),
  one('FCALL', () => ['FCALL', 'x', 0]),
  one('MULTI', () => ['MULTI']),
];

const becoming: Attempt[] = [
  commands('the victim’s account with mallory’s password', ({ projects: { victim, mallory } }) => [
    ['AUTH', victim.pool.username, mallory.pool.password],
    ['HGETALL', `wl:{${victim.uid}}:meta`],
  ]),
  commands(
    'the operator’s account with mallory’s password',
    ({ run, projects }) => [
      ['HELLO', 3, 'AUTH', 'windlass-operator', projects.mallory.pool.password],
      ['HGETALL', run],
    ],
    /WRONGPASS[^]*NOPERM/,
  ),
  commands(
    'the default account',
    ({ run }) => [
      ['AUTH', 'default', ''],
      ['AUTH', ''],
      ['HGETALL', run],
    ],
    /WRONGPASS[^]*NOPERM/,
  ),
  commands('RESET to the default account', ({ run }) => [['RESET'], ['HGETALL', run]], /NOAUTH/),
];

const scripts: Attempt[] = [
  commands('a script with the victim’s key declared', ({ run }) => [
    ['EVAL', "return redis.call('HGETALL', KEYS[1])", 1, run],
  ]),
  commands('a script of one’s own key and the victim’s', ({ own, run }) => [
    ['EVAL', "return redis.call('HGETALL', KEYS[2])", 2, `${own}q`, run],
  ]),
  script('that declares nothing', ({ run }) => `return redis.call('HGETALL', '${run}')`),
  script('that swallows the refusal', ({ run }) => `return redis.pcall('HGETALL', '${run}')`),
  script(
    'that puts the name together',
    ({ theirs }) => `return redis.call('HGETALL', '${theirs}' .. 'me' .. 'ta')`,
  ),
  script(
    'with flags of its own',
    ({ run }) => `#!lua flags=allow-cross-slot-keys,no-writes\nreturn redis.call('HGETALL', '${run}')`,
  ),
  script('that lists keys', () => "return redis.call('KEYS', '*')"),
  script('that scans', () => "return redis.call('SCAN', 0)"),
  script('that changes accounts', () => "return redis.call('ACL', 'LIST')"),
  script('that runs another', () => "return redis.call('EVAL', 'return 1', 0)"),
  script('that publishes', ({ theirs }) => `return redis.call('PUBLISH', '${theirs}q', 'x')`),
  script(
    'that changes what others’ scripts call',
    () => "redis.call = function() return 'mine' end",
    /readonly table/,
  ),
  script(
    'that changes the strings of others’ scripts',
    () => "getmetatable('').__index = function() return 'mine' end",
    /readonly table|index a nil value/,
  ),
  script('that sets what others’ scripts see', () => 'KEYS_OF_ALL = KEYS', /readonly|global variable/i),
  script(
    'that reaches outside of the sandbox',
    () => "return package.loadlib('/lib/libc.so.6', '*')",
    /nonexistent global variable/,
  ),
  script('that reads files', () => "return io.open('/etc/passwd'):read('*a')", /nonexistent global variable/),
  commands('EVALSHA of a script by its hash', ({ run }) => [
    ['EVAL', READ, 1, '{own}'],
    ['EVALSHA', createHash('sha1').update(READ).digest('hex'), 1, run],
  ]),
];

const transitions: Attempt[] = [
  transition('submit of a run of the victim’s workflow', (conn, { victim, known }) =>
    submit(
      conn,
      submissionOf(victim.uid, { workflowUid: known.workflowUID, revision: known.revision, dedupeKey: 'x' }),
    ),
  ),
  transition('claim of the victim’s runs', (conn, { victim }) =>
    claimRuns(conn, { project: victim.uid, runner: 'mallory', max: 10 }),
  ),
  transition('read of the victim’s run', (conn, { victim, known }) =>
    readRun(conn, victim.uid, known.waiting),
  ),
  transition('cancel of the victim’s run', (conn, { victim, known }) =>
    cancelRun(conn, victim.uid, known.waiting),
  ),
];

/** All this is mallory's own and allowed; it names what is the victim's, and nothing follows from that. */
const deceiving: Attempt[] = [
  commands(
    'the names of the victim’s run in all of its own lists',
    ({ own, projects: { known } }) => [
      ['ZADD', `${own}q`, 0, `${known.workflowUID} 1 ${known.waiting}`],
      ['ZADD', `${own}due`, 1, `${known.workflowUID} 1 ${known.waiting}`],
      ['ZADD', `${own}out`, 0, known.waiting],
      ['SADD', `${own}cancels`, known.waiting],
      ['HSET', `${own}claims`, known.waiting, `dead/${known.workflowUID}/x`],
      ['PUBLISH', `${own}cancels`, known.waiting],
      ['PUBLISH', `${own}q`, known.waiting],
    ],
    /that-was-all/,
  ),
  commands(
    'limits and totals of the victim’s workflow among its own',
    ({ own, projects: { known } }) => [
      ['HSET', `${own}wf:${known.workflowUID}`, 'policy', 'Replace', 'limit', 0],
    ],
    /that-was-all/,
  ),
];

export const redisAttempts: Attempt[] = [
  ...looking,
  ...changing,
  ...becoming,
  ...scripts,
  ...transitions,
  ...deceiving,
];
