/** What `windlass store move` does between real servers of each topology, and what it refuses. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { claimRuns } from '../../../runs/claim.ts';
import { openProject } from '../../../runs/project.ts';
import { readRun } from '../../../runs/read.ts';
import { submit } from '../../../runs/submit.ts';
import { connectRunStore } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import { windlass } from '../../support/cli/line.ts';
import { makeCertificates } from '../../support/cluster/certificates.ts';
import { mountSecret } from '../../support/cluster/mountedSecret.ts';
import { createCollectedLog } from '../../support/logs/collectedLog.ts';
import { makeFolder } from '../../support/process/folder.ts';
import { startCluster } from '../../support/runStore/cluster.ts';
import { submissionOf } from '../../support/runStore/runStore.ts';
import { callServer } from '../../support/runStore/sentinel.ts';
import { expectOpen, filled, move, setUpMoves, type Filled } from '../../support/runStore/storeMoves.ts';

const { redis, replicatedRedis, connected, stopAfterTest } = setUpMoves();

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
    stopAfterTest(folder.remove);
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
    const replicated = await replicatedRedis(1);
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
    const replicated = await replicatedRedis(1);
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
    stopAfterTest(own.remove);
    stopAfterTest(foreign.remove);
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
    stopAfterTest(() => cluster.stop());
    expect(await move(source.url, cluster.url(1))).toMatchObject({ code: 0 });
    const onCluster = connectRunStore({ url: cluster.url(1), name: 'windlass-gateway' });
    await onCluster.ready();
    for (const project of projects) await expectOpen(onCluster, project);
    expect(new Set(projects.map(({ project }) => onCluster.primaryOf(project))).size).toBe(3);
    await onCluster.close();

    const replicated = await replicatedRedis(2);
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
    const replicated = await replicatedRedis(1);
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
    expect(locked.stderr).toContain('it requires a password (NOAUTH). Set --to-password-file');
    expect([refused.code, locked.code]).toEqual([1, 1]);
  });
});
