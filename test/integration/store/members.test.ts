/** The replicated members of the chart: which of them begins as the primary, and which never does. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectRunStore, type RunStoreConnection } from '../../../store/connection.ts';
import { makeCertificates } from '../../support/cluster/certificates.ts';
import { mountSecret } from '../../support/cluster/mountedSecret.ts';
import { makeMembers, type Member, type Members } from '../../support/runStore/members.ts';
import { startRedis } from '../../support/runStore/redis.ts';
import { pollUntil } from '../../support/time/poll.ts';

const SOON = { timeoutMs: 25_000, everyMs: 250 };

let members: Members;
let firstPrimary: Member;
let conn: RunStoreConnection;
beforeAll(async () => {
  members = await makeMembers();
  const [first] = members.all as [Member];
  const single = await startRedis({ config: [`dir ${first.data}`] });
  const before = connectRunStore({ url: single.url, name: 'single' });
  await before.ready();
  await before.command('set', 'wl:of-single', 'by a single server');
  await before.close();
  await single.stop();

  await Promise.all(members.all.map((member) => member.start()));
  firstPrimary = await settledPrimary();
  conn = connectRunStore({ url: members.url, ...members.account, name: 'test' });
  await conn.ready();
});
afterAll(async () => {
  await conn?.close();
  await members?.stop();
});

/** The primary, once all members are ready. */
async function settledPrimary({ all } = members): Promise<Member> {
  try {
    return await pollUntil(
      'members that are ready',
      async () => {
        for (const member of all) if (!(await member.isReady())) return false;
        const roles = await Promise.all(all.map((member) => member.call('role')));
        const primaries = all.filter((_, index) => roles[index]?.startsWith('master'));
        return primaries.length === 1 && primaries[0];
      },
      SOON,
    );
  } catch (cause) {
    const said = all.map((member) => `${member.host}\n${member.output().slice(-3_000)}`);
    throw new Error(said.join('\n'), { cause });
  }
}

const storedBy = async () => conn.command('get', 'wl:stored');
/** Stores it with the current primary, and waits until that many replicas have it. */
const store = (value: string, replicas: number) =>
  pollUntil(
    `a primary that stores ${value}`,
    async () => {
      await conn.command('set', 'wl:stored', value);
      return Number(await conn.command('wait', replicas, 1_000)) >= replicas;
    },
    SOON,
  );

test('at the first start of all the first member is the primary, with what a single server left on its volume', async () => {
  expect(firstPrimary).toBe(members.all[0]);
  for (const member of members.all) expect(await member.call('info', 'keyspace')).toContain('keys=');
  expect(await conn.command('get', 'wl:of-single')).toBe('by a single server');
});

test('a lost primary comes back as a replica of the promoted one, also after all have restarted', async () => {
  const first = await settledPrimary();
  await store('before the failover', 2);
  await first.kill();
  await store('after the failover', 1);
  await first.start();
  const promoted = await settledPrimary();
  expect(promoted).not.toBe(first);

  await Promise.all(members.all.map((member) => member.kill()));
  await Promise.all(members.all.map((member) => member.start()));
  expect(await settledPrimary()).toBe(promoted);
  await conn.ready();
  expect(await storedBy()).toBe('after the failover');
});

test('a primary that lost its volume copies a promoted replica, and may be promoted afterwards', async () => {
  const lost = await settledPrimary();
  await store('before the loss', 2);
  await lost.lose();
  await lost.start();
  expect(await settledPrimary()).not.toBe(lost);
  expect(await lost.call('info', 'replication')).toContain('slave_priority:100');
  await conn.ready();
  expect(await storedBy()).toBe('before the loss');
  expect(lost.output()).toContain('copying the data of the primary');
});

test('with TLS members, sentinels and programs reach each other by TLS alone, also after an invalid certificate', async () => {
  const files = await makeCertificates(['own', 'renewed'], ['127.0.0.1', '127.0.0.2', '127.0.0.3']);
  const mounted = await mountSecret(files.own);
  const encrypted = await makeMembers({ certificate: mounted.path });
  const caFile = join(mounted.path, 'ca.crt');
  const options = { url: encrypted.url, ...encrypted.account, caFile, name: 'test' };
  let client: RunStoreConnection | undefined;
  try {
    await Promise.all(encrypted.all.map((member) => member.start()));
    await settledPrimary(encrypted);
    client = connectRunStore(options);
    await client.ready(AbortSignal.timeout(10_000));
    expect(await client.command('set', 'wl:stored', 'by TLS')).toBe('OK');
    await mounted.update({ ...files.own, 'tls.crt': files.renewed['tls.crt'], 'tls.key': 'no key' });
    const logged = (text: string) => () => encrypted.all.every((member) => member.output().includes(text));
    await pollUntil('a refused certificate', logged('refused the new TLS certificate'), SOON);
    await mounted.update(files.own);
    await pollUntil('a new certificate', logged('uses the new TLS certificate'), SOON);
    await client.close();
    client = connectRunStore(options);
    await client.ready(AbortSignal.timeout(10_000));
  } finally {
    await client?.close();
    await encrypted.stop();
    mounted.remove();
  }
});
