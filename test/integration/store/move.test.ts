/** `windlass store move` between real servers of each topology. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { claimRuns } from '../../../runs/claim.ts';
import { openProject } from '../../../runs/project.ts';
import { readRun } from '../../../runs/read.ts';
import { submit } from '../../../runs/submit.ts';
import { connectRunStore, type RunStoreConnection } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import {
  checkSource,
  checkTarget,
  restartCopy,
  writeCopyPosition,
  writeSourceMark,
  writeTargetMark,
} from '../../../store/move/marks.ts';
import { openServers, valueOf } from '../../../store/move/servers.ts';
import { windlass, type LineOptions, type Printed } from '../../support/cli/line.ts';
import { makeCertificates } from '../../support/cluster/certificates.ts';
import { mountSecret } from '../../support/cluster/mountedSecret.ts';
import { createCollectedLog, type CollectedLog } from '../../support/logs/collectedLog.ts';
import { makeFolder } from '../../support/process/folder.ts';
import { startCluster } from '../../support/runStore/cluster.ts';
import { startRedis, type RedisOptions, type TestRedis } from '../../support/runStore/redis.ts';
import { accepted, claimed, newProject, submissionOf } from '../../support/runStore/runStore.ts';
import { callServer, startReplicatedRedis } from '../../support/runStore/sentinel.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { startLink } from '../../faults/storm/link.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

async function redis(options: RedisOptions = {}): Promise<TestRedis> {
  const server = await startRedis(options);
  stops.push(() => server.stop());
  return server;
}

async function connected(url: string, rest: { log?: CollectedLog; caFile?: string } = {}) {
  const conn = connectRunStore({ url, name: 'windlass-gateway', ...rest });
  stops.push(() => conn.close());
  await conn.ready();
  return conn;
}

/** Fills projects, as programs did that are stopped now. */
async function filled(url: string, projects = 3): Promise<Filled[]> {
  const conn = connectRunStore({ url, name: 'windlass-gateway' });
  await conn.ready();
  const made: Filled[] = [];
  for (let index = 0; index < projects; index += 1) made.push(await fill(conn));
  await conn.close();
  return made;
}

type Filled = { project: string; waiting: string; executing: string };

/** A project with a claimed run, one that waits for a runner, a dedupe key, and a reply that expires. */
async function fill(conn: RunStoreConnection): Promise<Filled> {
  const project = await newProject(conn);
  const executing = await accepted(conn, submissionOf(project));
  await claimed(conn, project, 1);
  const waiting = await accepted(conn, submissionOf(project, { dedupeKey: 'order-1' }));
  const { prefix } = keysOf(project);
  await conn.command('set', `${prefix}reply:w:h`, 'kept', 'px', 3_600_000);
  await conn.command('zadd', `${prefix}seen:w:n`, '1764399999123456', 'a', '0.1', 'b');
  await conn.command('sadd', `${prefix}seenby:w`, 'n1', 'n2');
  await conn.command('rpush', `${prefix}ev:x`, 'one', 'two', 'one');
  return { project, waiting, executing };
}

function move(
  from: string,
  to: string,
  more: readonly string[] = [],
  options: LineOptions = {},
): Promise<Printed> {
  return windlass(['store', 'move', '--from', from, '--to', to, ...more], options);
}

/**
 * Expects that the project works there: its waiting run can be claimed, and its claimed run is still
 * claimed.
 */
async function expectOpen(conn: RunStoreConnection, { project, waiting, executing }: Filled): Promise<void> {
  const claims = await claimed(conn, project, 10, 'runner-2');
  expect(claims.map(({ state }) => state.run)).toEqual([waiting]);
  expect(await readRun(conn, project, executing)).toMatchObject({ run: executing });
  expect(await conn.command('hexists', keysOf(project).claims, executing)).toBe(1);
  expect(await submit(conn, submissionOf(project, { dedupeKey: 'order-1' }))).toMatchObject({ run: waiting });
}

describe('from one server to another', () => {
  test('projects work in the target, and the source refuses them', async () => {
    const [source, target] = [await redis(), await redis()];
    const projects = await filled(source.url);
    await callServer(source.port, ['set', 'wl:console:out:x', 'session', 'px', '3600000']);
    await callServer(source.port, ['set', 'other', 'of somebody else']);
    const moved = await move(source.url, target.url);
    expect(moved.stderr).toMatch(/compared \d+ keys, .* all are the same/);
    expect(moved.code).toBe(0);
    for (const { project } of projects)
      expect(moved.stdout).toMatch(new RegExp(`${project} +\\d+ +[0-9a-f]{16}`));
    const conn = await connected(target.url);
    for (const project of projects) await expectOpen(conn, project);
    expect(await conn.command('get', 'wl:console:out:x')).toBe('session');
    expect(await conn.command('get', 'other')).toBe(null);
    const reply = `${keysOf(projects[0]?.project ?? '').prefix}reply:w:h`;
    expect(await conn.command('pexpiretime', reply)).toBe(
      await callServer(source.port, ['pexpiretime', reply]),
    );

    const collected = createCollectedLog();
    const left = await connected(source.url, { log: collected });
    const { project = '', executing = '' } = projects[0] ?? {};
    const refused = { outcome: 'unavailable', why: 'no-store' };
    expect(await submit(left, submissionOf(project))).toMatchObject(refused);
    expect(await claimRuns(left, { project, runner: 'runner-3', max: 1 })).toMatchObject(refused);
    // An operator does not seed it.
    expect(await openProject(left, project)).toMatchObject(refused);
    expect(collected.messages('error')).toEqual([
      'run store: moved to other servers; set redis.url or redis.topology',
    ]);
    expect(await left.command('hexists', keysOf(project).claims, executing)).toBe(0);
  });

  test('a dry run counts, and writes nothing', async () => {
    const [source, target] = [await redis(), await redis()];
    const [filledOne] = await filled(source.url, 1);
    const moved = await move(source.url, target.url, ['--dry-run', '-o', 'json']);
    expect(moved).toMatchObject({ code: 0, stderr: expect.stringContaining('dry run: nothing was written') });
    expect(JSON.parse(moved.stdout)).toMatchObject({
      outcome: 'dryRun',
      projects: [{ project: filledOne?.project, keys: await callServer(source.port, ['dbsize']) }],
    });
    expect(await callServer(target.port, ['dbsize'])).toBe(0);
    expect(await callServer(source.port, ['exists', 'wl:move:source'])).toBe(0);
    await expectOpen(await connected(source.url), filledOne as Filled);
  });

  test('keys with binary names or unusual braces are copied unchanged', async () => {
    const [source, target] = [await redis(), await redis()];
    const { project = '' } = (await filled(source.url, 1))[0] ?? {};
    const names = [
      `wl:{${project}}:\\255\\000\\r\\n`,
      'wl:{}:a',
      'wl:}{',
      'wl:{a}}:meta',
      'wl:{../é}:meta',
      'wl: *?[x]',
    ];
    const write = names.map((name) => `redis.call('HSET', '${name}', '\\254', '\\253')`).join(' ');
    await callServer(source.port, ['eval', write, '0']);
    expect(await move(source.url, target.url)).toMatchObject({ code: 0 });
    const read = `return {${names.map((name) => `redis.call('HGET', '${name}', '\\254') == '\\253'`).join(', ')}}`;
    expect(await callServer(target.port, ['eval', read, '0'])).toEqual(names.map(() => 1));
  });

  test('an account without DUMP moves the keys by their types', async () => {
    const acl = 'user default on nopass ~* &* +@all -dump\n';
    const [source, target] = [await redis({ acl }), await redis()];
    const projects = await filled(source.url);
    const moved = await move(source.url, target.url);
    expect(moved.stderr).toContain('the keys are copied by their types, without DUMP');
    expect(moved.code).toBe(0);
    const conn = await connected(target.url);
    for (const project of projects) await expectOpen(conn, project);
  });

  test('the account of the operator has all rights, and a wrong password is reported', async () => {
    const folder = await makeFolder('move');
    stops.push(folder.remove);
    const [right, wrong] = [join(folder.path, 'right'), join(folder.path, 'wrong')];
    await writeFile(right, 'secret\n');
    await writeFile(wrong, 'other');
    const rules = await readFile('charts/windlass/files/redis/accounts.acl', 'utf8');
    const operator = rules.split('\n').find((line) => line.startsWith('user windlass-operator ')) ?? '';
    const acl = `user default off\n${operator.replace('reset on #windlass-operator', 'on >secret')}\n`;
    const [source, target] = [await redis({ acl }), await redis({ acl })];
    const as = (password: string) =>
      `--from-user windlass-operator --from-password-file ${right} --to-user windlass-operator --to-password-file ${password}`.split(
        ' ',
      );
    const refused = await move(source.url, target.url, as(wrong));
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the target cannot be used: WRONGPASS'),
    });
    expect(refused.stderr).not.toContain('other');
    const moved = await move(source.url, target.url, as(right));
    expect(moved).toMatchObject({ code: 0, stderr: expect.not.stringContaining('warning') });
  });
});

describe('nothing is written if', () => {
  test.each([
    ['the target has keys', {}, 'the target has keys of Windlass that this move did not write', true],
    ['the target has too little memory', { maxmemory: 1_500_000 }, 'raise maxmemory of the target', false],
    [
      'the target belongs to a Redis Cluster',
      { config: ['cluster-enabled yes'] },
      'belongs to a Redis Cluster',
      false,
    ],
  ])('%s', async (_, options, message, isFilled) => {
    const [source, target] = [await redis(), await redis(options)];
    const [one] = await filled(source.url, 1);
    if (isFilled) await filled(target.url, 1);
    expect(await move(source.url, target.url)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(message),
    });
    await expectOpen(await connected(source.url), one as Filled);
    expect(await callServer(source.port, ['exists', 'wl:move:source'])).toBe(0);
  });

  test('source and target are the same server', async () => {
    const source = await redis();
    const moved = await move(source.url, source.url.replace('127.0.0.1', 'localhost'));
    expect(moved).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('source and target are the same server'),
    });
  });

  test('the target is a replica of the source', async () => {
    const replicated = await startReplicatedRedis(1);
    stops.push(() => replicated.stop());
    const [source, target] = replicated.servers;
    await filled(source?.url ?? '', 1);
    await replicated.synced(1);
    const moved = await move(source?.url ?? '', target?.url ?? '');
    expect(moved.stderr).toContain('the target is a replica, which takes no writes');
    expect(moved.stderr).not.toContain('remove its keys');
    expect(moved.code).toBe(1);
  });

  test('a program is connected', async () => {
    const [source, target] = [await redis(), await redis()];
    await connected(source.url);
    const moved = await move(source.url, target.url);
    expect(moved.stderr).toMatch(
      /programs are connected to the source: windlass-gateway \(127.0.0.1:\d+\)\. Stop/,
    );
    expect(moved.code).toBe(1);
  });

  test('a program is connected, which a dry run reports after the number of keys', async () => {
    const [source, target] = [await redis(), await redis()];
    await filled(source.url, 2);
    await connected(source.url);
    const dry = await move(source.url, target.url, ['--dry-run']);
    expect(dry.stderr).toMatch(/source: 2 projects, \d+ keys\nerror: programs are connected/);
    expect(dry.code).toBe(1);
  });

  test('fewer replicas of the target confirm than its URL says', async () => {
    const source = await redis();
    const [one] = await filled(source.url, 1);
    const replicated = await startReplicatedRedis(1);
    stops.push(() => replicated.stop());
    for (const options of [['--dry-run'], []]) {
      const refused = await move(source.url, replicated.url(2), options);
      expect(refused.stderr).toMatch(/error: fewer than 2 replicas of the target confirm writes\..*again\n$/);
      expect(refused.code).toBe(1);
    }
    expect(await callServer(source.port, ['exists', 'wl:move:source'])).toBe(0);
    await expectOpen(await connected(source.url), one as Filled);
  });

  test('a project is being restored', async () => {
    const [source, target] = [await redis(), await redis()];
    await callServer(source.port, ['hset', 'wl:{p-1}:meta', 'seeding', 'token']);
    const moved = await move(source.url, target.url);
    expect(moved.stderr).toContain('the operator was stopped while it restored the project p-1');
    expect(moved.code).toBe(1);
  });

  test('the target refuses a command', async () => {
    const acl = 'user default on nopass ~* &* +@all -scan\n';
    const [source, target] = [await redis(), await redis({ acl })];
    await filled(source.url, 1);
    const moved = await move(source.url, target.url);
    expect(moved.stderr).toContain('the target refuses a command: NOPERM');
    expect(moved.code).toBe(1);
  });

  test.each([
    [['store', 'copy', '--from', 'redis://a:1', '--to', 'redis://b:1'], 2, 'unknown action copy: use move'],
    [['store', 'move', '--from', 'redis://a:1'], 2, 'the option --to is missing'],
    [
      ['store', 'move', '--from', 'redis://u:p@a:1', '--to', 'redis://b:1'],
      2,
      '--from must not contain a user or password',
    ],
    [
      ['store', 'move', '--from', 'redis://a:1', '--to', 'redis://b:1', '--dry-run', '--cancel'],
      2,
      'not both',
    ],
    [
      ['store', 'move', '--from', 'redis://a:1', '--from-password-file', '/none', '--to', 'redis://b:1'],
      3,
      'cannot read /none: ENOENT',
    ],
    [
      ['store', 'move', '--from', 'redis://a:1', '--to', 'rediss://b:1', '--to-ca', 'package.json'],
      3,
      'cannot use package.json: the file has no certificate in PEM form',
    ],
    [
      ['store', 'move', '--from', 'redis://127.0.0.1:1', '--to', 'redis://127.0.0.1:1'],
      1,
      'the source cannot be used: connect ECONNREFUSED',
    ],
  ])('the command line is %j', async (line, code, message) => {
    expect(await windlass(line)).toMatchObject({ code, stderr: expect.stringContaining(message) });
  });
});

describe('to a server with TLS', () => {
  async function encrypted() {
    const files = await makeCertificates(['own', 'foreign'], ['127.0.0.1']);
    const [own, foreign] = [await mountSecret(files.own), await mountSecret(files.foreign)];
    stops.push(own.remove, foreign.remove);
    const target = await redis({ tls: { certificate: own.path, socket: join(own.path, 'redis.sock') } });
    return { target, own: join(own.path, 'ca.crt'), foreign: join(foreign.path, 'ca.crt') };
  }

  test('projects work there, and a certificate of another authority is refused', async () => {
    const source = await redis();
    const [one] = await filled(source.url, 1);
    const { target, own, foreign } = await encrypted();
    for (const ca of [['--to-ca', foreign], []]) {
      const refused = await move(source.url, target.url, ca);
      expect(refused.stderr).toMatch(
        /the target cannot be used: .*certificate.*\. Check its certificate, and the authorities of --to-ca/,
      );
      expect(refused.code).toBe(1);
    }
    expect(await callServer(source.port, ['exists', 'wl:move:source'])).toBe(0);
    const moved = await move(source.url, target.url, ['--to-ca', own]);
    expect(moved).toMatchObject({ code: 0, stderr: expect.stringContaining('all are the same') });
    await expectOpen(await connected(target.url, { caFile: own }), one as Filled);
  });

  test('a URL without TLS for a server with TLS, and the reverse, are reported', async () => {
    const source = await redis();
    const { target, own } = await encrypted();
    const plain = await move(source.url, target.url.replace('rediss:', 'redis:'));
    expect(plain.stderr).toContain('If the target requires TLS, use rediss in its URL');
    const tls = await move(source.url.replace('redis:', 'rediss:'), target.url, ['--to-ca', own]);
    expect(tls.stderr).toContain('If the source does not use TLS, use redis in its URL');
    expect([plain.code, tls.code]).toEqual([1, 1]);
  });
});

describe('between topologies', () => {
  test('from one server to a Redis Cluster, and from there to Sentinel', { timeout: 120_000 }, async () => {
    const source = await redis();
    const projects = await filled(source.url, 8);
    const cluster = await startCluster();
    stops.push(() => cluster.stop());
    expect(await move(source.url, cluster.url(1))).toMatchObject({ code: 0 });
    const onCluster = connectRunStore({ url: cluster.url(1), name: 'windlass-gateway' });
    await onCluster.ready();
    for (const project of projects) await expectOpen(onCluster, project);
    expect(new Set(projects.map(({ project }) => onCluster.primaryOf(project))).size).toBe(3);
    await onCluster.close();

    const replicated = await startReplicatedRedis(2);
    stops.push(() => replicated.stop());
    const moved = await move(cluster.url(1), replicated.url(2));
    expect(moved.stderr).toContain('opened 8 projects in the target');
    expect(moved.code).toBe(0);
    const conn = await connected(replicated.url(2));
    for (const { project, waiting, executing } of projects)
      for (const run of [waiting, executing])
        expect(await readRun(conn, project, run)).toMatchObject({ run });
    expect(await submit(conn, submissionOf(projects[0]?.project ?? ''))).toMatchObject({
      outcome: 'accepted',
    });
  });
});

describe('a URL of another topology', () => {
  test('names what answers in the place of sentinels', async () => {
    const replicated = await startReplicatedRedis(1);
    stops.push(() => replicated.stop());
    const [source, single] = [await redis(), await redis()];
    const bySentinels = (port: number, name: string) =>
      `redis+sentinel://127.0.0.1:${port}/${name}?replicas=1`;
    const sentinel = Number(/:(\d+)/.exec(replicated.url(1).replace('redis+sentinel://', ''))?.[1]);
    for (const [target, message] of [
      [bySentinels(1, 'p'), 'too few sentinels answer: more than half of those in the URL must'],
      [bySentinels(single.port, 'p'), 'sentinels refuse the question: the URL must name the ports'],
      [bySentinels(sentinel, 'other'), 'sentinels do not know the primary: check the name at the end'],
    ] as const) {
      const refused = await move(source.url, target, ['--dry-run']);
      expect(refused.stderr).toContain(`the target cannot be used: ${message}`);
      expect(refused.code).toBe(1);
    }
  });

  test('names a single server in the place of a Redis Cluster, and one that requires a password', async () => {
    const [source, single] = [await redis(), await redis()];
    const cluster = single.url.replace('redis:', 'redis+cluster:');
    const refused = await move(source.url, `${cluster}?replicas=1`, ['--dry-run']);
    expect(refused.stderr).toContain('servers belong to no cluster: it is a single server');
    await callServer(single.port, ['config', 'set', 'requirepass', 'secret']);
    const locked = await move(source.url, single.url, ['--dry-run']);
    expect(locked.stderr).toContain('it requires a password: set --to-password-file');
    expect([refused.code, locked.code]).toEqual([1, 1]);
  });
});

describe('a move that is interrupted', () => {
  const KEYS = 8_000;
  const MANY = `for n = 1, ${KEYS} do redis.call('HSET', 'wl:{many}:run:' .. n, 'input', string.rep('x', 500), 'n', n) end`;
  /** As programs do once the projects are open in the target. */
  const CHANGE_MANY = `for n = 1, ${KEYS} do redis.call('HSET', 'wl:{many}:run:' .. n, 'n', 'changed') end`;
  const COUNT_CHANGED = `local count = 0 for n = 1, ${KEYS} do if redis.call('HGET', 'wl:{many}:run:' .. n, 'n') == 'changed' then count = count + 1 end end return count`;

  const LATE_MS = 200;

  type Large = { source: { url: string; port: number }; one: Filled; hurry: () => Promise<void> };

  /**
   * A source whose answers come late until `hurry`, so that its move takes a while, and its filled project.
   */
  async function large(): Promise<Large> {
    const server = await redis({ appendfsync: 'no' });
    await callServer(server.port, ['eval', MANY, '0']);
    const [one] = await filled(server.url, 1);
    const link = await startLink(server.port);
    stops.push(() => link.close());
    const source = { url: `redis://127.0.0.1:${link.port}`, port: server.port };
    return { source, one: one as Filled, hurry: link.begin('late', LATE_MS) };
  }

  /** Waits until the move has copied a part of the keys. */
  async function untilCopying({ port }: TestRedis): Promise<void> {
    const isCopying = async () => (await callServer(port, ['hget', 'wl:move:target', 'position'])) !== null;
    await pollUntil('a part that is copied', isCopying, { timeoutMs: 40_000, everyMs: 5 });
  }

  async function expectFinished(source: { url: string }, target: TestRedis, one: Filled): Promise<Printed> {
    const moved = await move(source.url, target.url);
    expect(moved).toMatchObject({ code: 0, stderr: expect.stringContaining('all are the same') });
    expect(moved.stdout).toMatch(new RegExp(`many +${KEYS} `));
    await expectOpen(await connected(target.url), one);
    return moved;
  }

  test('by SIGKILL continues, and opens no project before it has all data', async () => {
    const { source, one, hurry } = await large();
    const target = await redis({ appendfsync: 'no' });
    const line = ['cli/main.ts', 'store', 'move', '--from', source.url, '--to', target.url];
    const child = spawn(process.execPath, line, { stdio: 'ignore' });
    await untilCopying(target);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await hurry();
    expect(await callServer(target.port, ['hget', 'wl:move:target', 'state'])).toBe('copying');
    const early = connectRunStore({ url: target.url, name: 'windlass-operator' });
    await early.ready();
    expect(await openProject(early, one.project)).toMatchObject({ outcome: 'unavailable', why: 'no-store' });
    await early.close();
    const moved = await expectFinished(source, target, one);
    expect(moved.stderr).toContain('after those of an earlier call');
    const again = await move(source.url, target.url);
    expect(again).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('already been moved to this target'),
    });
  });

  test('by Ctrl-C says how to continue, and so do later calls', async () => {
    const { source, one, hurry } = await large();
    const target = await redis({ appendfsync: 'no' });
    const line = ['cli/main.ts', 'store', 'move', '--from', source.url, '--to', target.url];
    const child = spawn(process.execPath, line, { stdio: ['ignore', 'ignore', 'pipe'] });
    const said = text(child.stderr);
    await untilCopying(target);
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([null, 'SIGINT']);
    expect(await said).toMatch(/\ninterrupted: projects of the source are closed, .* with --cancel .*\n$/);
    await hurry();
    const dry = await move(source.url, target.url, ['--dry-run']);
    expect(dry.stderr).toContain('a move to this target was interrupted: projects of the source are closed');
    await expectFinished(source, target, one);
  });

  test('for another target refuses the abandoned target', async () => {
    const { source, one, hurry } = await large();
    const [abandoned, target] = [await redis({ appendfsync: 'no' }), await redis({ appendfsync: 'no' })];
    const moving = move(source.url, abandoned.url);
    await untilCopying(abandoned);
    await abandoned.kill();
    await hurry();
    await moving;
    await abandoned.restart();
    await expectFinished(source, target, one);
    const stale = await move(source.url, abandoned.url);
    expect(stale.stderr).toContain(`the source was moved to ${target.url}`);
    expect(stale.code).toBe(1);
  });

  test('by a pause, during which another call finishes it, writes nothing more', async () => {
    const { source, one, hurry } = await large();
    const target = await redis({ appendfsync: 'no' });
    const line = ['cli/main.ts', 'store', 'move', '--from', source.url, '--to', target.url];
    const child = spawn(process.execPath, line, { stdio: ['ignore', 'ignore', 'pipe'] });
    const said = text(child.stderr);
    await untilCopying(target);
    child.kill('SIGSTOP');
    await hurry();
    const refused = await move(source.url, target.url);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('another call of the command'),
    });
    // As after hours without a network.
    for (const { port } of [source, target]) await callServer(port, ['client', 'kill', 'type', 'normal']);
    await expectFinished(source, target, one);
    await callServer(target.port, ['eval', CHANGE_MANY, '0']);
    child.kill('SIGCONT');
    expect(await once(child, 'exit')).toEqual([1, null]);
    expect(await said).toMatch(/does not answer|another call of the command has continued/);
    expect(await callServer(target.port, ['eval', COUNT_CHANGED, '0'])).toBe(KEYS);
  });

  test('by the loss of the target can be cancelled without it, and repeated', async () => {
    const { source, one, hurry } = await large();
    const target = await redis({ appendfsync: 'no' });
    const moving = move(source.url, target.url);
    await untilCopying(target);
    await target.kill();
    await hurry();
    await moving;
    const cancelled = await move(source.url, target.url, ['--cancel']);
    expect(cancelled.stderr).toContain('warning: the target cannot be used: connect ECONNREFUSED');
    expect(cancelled).toMatchObject({ code: 0, stderr: expect.stringContaining('are open again') });
    await connectRunStoreOnce(source.url, (open) => accepted(open, submissionOf(one.project)));
    await target.restart();
    const moved = await move(source.url, target.url);
    expect(moved).toMatchObject({ code: 0, stderr: expect.stringContaining('all are the same') });
    expect(moved.stderr).not.toContain('after those of an earlier call');
  });

  test('by the loss of the target reports it, and continues after the target is back', async () => {
    const { source, one, hurry } = await large();
    const target = await redis({ appendfsync: 'no' });
    const moving = move(source.url, target.url);
    await untilCopying(target);
    await target.kill();
    await hurry();
    expect(await moving).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/the target does not answer.*\nprojects of the source are closed/),
    });
    await target.restart();
    await expectFinished(source, target, one);
  });

  test('by a program that still writes names the key, and can be cancelled and repeated', async () => {
    const { source, one, hurry } = await large();
    await hurry();
    const target = await redis({ appendfsync: 'no' });
    const conn = { writing: true, ended: Promise.resolve() };
    const write = async () => {
      while (conn.writing)
        await callServer(source.port, ['hincrby', keysOf(one.project).heartbeats, 'runner-1', '1']);
    };
    const onMessage = (text: string) => {
      if (text.startsWith('closed')) conn.ended = write();
    };
    const moved = await move(source.url, target.url, [], { onMessage });
    conn.writing = false;
    await conn.ended;
    expect(moved.stderr).toContain(
      `1 keys differ, because a program wrote to the source or the target: ${keysOf(one.project).heartbeats} differs`,
    );
    expect(moved.code).toBe(1);
    const cancelled = await move(source.url, target.url, ['--cancel']);
    expect(cancelled).toMatchObject({ code: 0, stderr: expect.stringContaining('are open again') });
    const again = await connectRunStoreOnce(source.url, (open) =>
      submit(open, submissionOf(one.project, { dedupeKey: 'order-1' })),
    );
    expect(again).toMatchObject({ run: one.waiting });
    await callServer(source.port, ['unlink', 'wl:{many}:run:1']);
    await callServer(source.port, ['hset', 'wl:{many}:run:0', 'n', '0']);
    await expectFinished(source, target, one);
    const late = await move(source.url, target.url, ['--cancel']);
    expect(late).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${target.url} has all data, and may be in use`),
    });
  });

  test('by a call that cancels it while it waits for replicas opens nothing in the target', async () => {
    const source = await redis();
    const [one] = await filled(source.url, 1);
    const replicated = await startReplicatedRedis(1);
    stops.push(() => replicated.stop());
    const [primary, replica] = replicated.servers;
    const target = replicated.url(1);
    let cancelling: Promise<Printed> | undefined;
    const onMessage = (text: string) => {
      if (text.startsWith('closed')) replica?.freeze();
      if (!text.startsWith('compared')) return;
      cancelling = move(source.url, target, ['--cancel']).finally(() => replica?.thaw());
    };
    const moved = await move(source.url, target, [], { onMessage });
    expect(await cancelling).toMatchObject({ code: 0, stderr: expect.stringContaining('are open again') });
    expect(moved.stderr).toContain('another call has cancelled the move meanwhile');
    expect(moved.code).toBe(1);
    const { meta } = keysOf(one?.project ?? '');
    expect(await callServer(primary?.port ?? 0, ['hget', meta, 'id'])).toBe(null);
    await expectOpen(await connected(source.url), one as Filled);
  });

  test('by another call writes to neither store any more', async () => {
    const server = await redis();
    const [source, target] = [
      await openServers('source', { url: server.url }),
      await openServers('target', { url: server.url }),
    ];
    stops.push(
      () => source.close(),
      () => target.close(),
    );
    const first = { token: 'a', call: '1', state: 'moving', to: target.url } as const;
    const second = { ...first, call: '2' };
    expect(await writeSourceMark(source, undefined, first)).toBe(true);
    await writeTargetMark(target, undefined, { token: 'a', call: '1', state: 'copying' });
    await checkSource(source, first);
    await writeTargetMark(target, first, { call: '2' });
    expect(await writeSourceMark(source, first, second)).toBe(true);
    const ended = 'another call of the command has continued';
    await expect(checkSource(source, first)).rejects.toThrow(ended);
    await expect(checkTarget(target, first)).rejects.toThrow(ended);
    await expect(restartCopy(target, first)).rejects.toThrow(ended);
    const position = { server: '', runId: 'x', cursor: '0' };
    await expect(writeCopyPosition(target, first, position)).rejects.toThrow(ended);
    expect(await writeSourceMark(source, first, { state: 'moved' })).toBe(false);
    expect(await writeSourceMark(source, second, { state: 'cancelled' }, 'moving')).toBe(false);
    await checkTarget(target, second);
  });

  test('by a restart of a server between two calls asks that server nothing more', async () => {
    const server = await redis();
    const target = await openServers('target', { url: server.url });
    stops.push(() => target.close());
    const ping = async () => {
      const [answer] = (await target.all[0]?.ask([['exists', 'wl:a']])) ?? [];
      return valueOf(answer);
    };
    expect(await ping()).toBe(0);
    await callServer(server.port, ['client', 'kill', 'type', 'normal']);
    await pollUntil('an answer', async () => (await ping().catch(() => 1)) === 0, { timeoutMs: 5_000 });
    await server.kill();
    await server.restart();
    const isReplaced = async () => /is another server/.test(String(await ping().catch(String)));
    await pollUntil('a refusal', isReplaced, { timeoutMs: 5_000 });
    await expect(ping()).rejects.toThrow('is another server than before, or was restarted');
  });

  async function connectRunStoreOnce<T>(
    url: string,
    call: (conn: RunStoreConnection) => Promise<T>,
  ): Promise<T> {
    const conn = connectRunStore({ url, name: 'windlass-gateway' });
    await conn.ready();
    try {
      return await call(conn);
    } finally {
      await conn.close();
    }
  }
});
