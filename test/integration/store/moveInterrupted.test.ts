/** What interrupts `windlass store move`: signals, lost servers, programs, and other calls. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { openProject } from '../../../runs/project.ts';
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
import type { Printed } from '../../support/cli/line.ts';
import type { TestRedis } from '../../support/runStore/redis.ts';
import { accepted, submissionOf } from '../../support/runStore/runStore.ts';
import { callServer } from '../../support/runStore/sentinel.ts';
import { expectOpen, filled, move, setUpMoves, type Filled } from '../../support/runStore/storeMoves.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { startLink } from '../../faults/storm/link.ts';

const { redis, replicatedRedis, connected, stopAfterTest } = setUpMoves();

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
    stopAfterTest(() => link.close());
    const source = { url: `redis://127.0.0.1:${link.port}`, port: server.port };
    return { source, one: one as Filled, hurry: link.begin('late', LATE_MS) };
  }

  /** Waits until the move has copied a part of the keys. Throws what it said where it ends before. */
  async function untilCopying({ port }: TestRedis, ended: Promise<string>): Promise<void> {
    const isCopying = async () => (await callServer(port, ['hget', 'wl:move:target', 'position'])) !== null;
    const early = ended.then((said) => {
      throw new Error(`the move ended before it copied anything: ${said}`);
    });
    const copying = pollUntil('a part that is copied', isCopying, { timeoutMs: 40_000, everyMs: 5 });
    await Promise.race([copying, early]);
  }

  /** Starts the command as a process of its own, and waits until it has copied a part of the keys. */
  async function startMove(source: { url: string }, target: TestRedis) {
    const line = ['cli/main.ts', 'store', 'move', '--from', source.url, '--to', target.url];
    const child = spawn(process.execPath, line, { stdio: ['ignore', 'ignore', 'pipe'] });
    stopAfterTest(() => child.kill('SIGKILL'));
    const said = text(child.stderr);
    await untilCopying(
      target,
      once(child, 'exit').then(() => said),
    );
    return { child, said };
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
    const { child } = await startMove(source, target);
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
    const { child, said } = await startMove(source, target);
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
    await untilCopying(
      abandoned,
      moving.then(({ stderr }) => stderr),
    );
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
    const { child, said } = await startMove(source, target);
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
    await untilCopying(
      target,
      moving.then(({ stderr }) => stderr),
    );
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
    await untilCopying(
      target,
      moving.then(({ stderr }) => stderr),
    );
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
    const replicated = await replicatedRedis(1);
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
    // What this call would say of the projects is not true any more.
    expect(moved.stderr).not.toContain('the target has all data');
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
    stopAfterTest(() => source.close());
    stopAfterTest(() => target.close());
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
    stopAfterTest(() => target.close());
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
