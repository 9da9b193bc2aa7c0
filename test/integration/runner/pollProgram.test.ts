/**
 * The program of a poll pod, as a process: with a real mail server, a real run store, and the rights of a
 * runner.
 */
import type { ImapFlow } from 'imapflow';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import { namespaces, roleBindings, roles, secrets, serviceAccounts } from '../../../kube/resource.ts';
import { poolRole, poolRoleBinding, poolServiceAccount } from '../../../operator/project/manifests.ts';
import { POOL } from '../../../operator/shared/names.ts';
import { credentialResource } from '../../../runner/credentials.ts';
import { isUnavailable } from '../../../store/connection.ts';
import { keysOf } from '../../../store/keys.ts';
import { readPoll, type PollState } from '../../../store/polling/state.ts';
import { putTrigger } from '../../../store/polling/triggers.ts';
import type { ApiServer } from '../../support/cluster/apiserver.ts';
import { sharedApiServer } from '../../support/cluster/sharedApiServer.ts';
import { IMAP_PASSWORD, startDovecot, type Dovecot } from '../../support/providers/mail/dovecot.ts';
import { freePort } from '../../support/process/freePort.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { startProgram, type Program } from '../../support/process/program.ts';
import { startRedisProxy, type RedisProxy } from '../../support/runStore/redisProxy.ts';
import { newProject, startRunStore, type TestStore } from '../../support/runStore/runStore.ts';
import { tokenOf, writeKubeconfig } from '../../support/cluster/users.ts';

const namespace = 'shop';
const UID = 'uid-orders';
const trigger = {
  workflow: 'orders',
  workflowUid: UID,
  revision: 'orders-1',
  kind: 'mail',
  fields: { credential: 'inbox' },
  // So that a pod ends after one poll.
  intervalSeconds: 86_400,
  place: 'inbox',
};

let api: ApiServer;
let client: KubeClient;
let store: TestStore;
let mail: Dovecot;
let mailbox: ImapFlow;
let proxy: RedisProxy;
let kubeconfig: string;
let project: string;
let passes: () => boolean;

beforeAll(async () => {
  [api, store, mail] = await Promise.all([
    sharedApiServer(),
    startRunStore({ appendfsync: 'no' }),
    startDovecot(),
  ]);
  client = createClient(api.connection, { fieldManager: 'test' });
  await client.create(namespaces, { metadata: { name: namespace } });
  const data = { password: btoa(IMAP_PASSWORD) };
  await client.create(secrets, { metadata: { name: 'accounts', namespace }, data });
  const imap = { host: '127.0.0.1', port: mail.port, tls: 'None', username: 'shop' } as const;
  const spec = { imap: { ...imap, passwordRef: { name: 'accounts', key: 'password' } } };
  await client.create(credentialResource, { metadata: { name: 'inbox', namespace }, spec });
  await client.apply(serviceAccounts, poolServiceAccount(namespace));
  await client.apply(roles, poolRole(namespace, ['accounts']));
  await client.apply(roleBindings, poolRoleBinding(namespace));
  kubeconfig = await writeKubeconfig(api, 'runner', await tokenOf(client, namespace, POOL));
  proxy = await startRedisProxy(store.redis.port, ([name = '']) => !name.startsWith('eval') || passes());
  mailbox = await mail.client('shop');
}, 600_000);

afterAll(async () => {
  await mailbox?.logout();
  await proxy?.stop();
  await Promise.all([store?.stop(), mail?.close(), client?.close()]);
  await api?.stop();
});

beforeEach(async () => {
  passes = () => true;
  project = await newProject(store.conn);
  await putTrigger(store.conn, project, trigger);
});

function start(env: Record<string, string> = {}): Program {
  const own = {
    PROJECT_UID: project,
    POD_NAMESPACE: namespace,
    POD_NAME: 'pod-1',
    REDIS_URL: proxy.url,
    EGRESS_ALLOW: '127.0.0.0/8',
    KUBECONFIG: kubeconfig,
  };
  return startProgram('poll', { ...own, ...env });
}

/** Has the program poll, although it is not due. */
async function poll(env?: Record<string, string>): Promise<Program> {
  await store.conn.command('hdel', keysOf(project).poll(UID), 'at', 'notBefore');
  const pod = start(env);
  await pod.ended;
  return pod;
}

const runs = async () => (await store.conn.command('zrange', keysOf(project).runs(UID), 0, -1)) as string[];

async function state(): Promise<PollState> {
  const found = await readPoll(store.conn, project, UID);
  if (!found || isUnavailable(found)) throw new Error('the trigger cannot be read');
  return found;
}

let mails = 0;
async function deliver(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    mails += 1;
    await mailbox.append(
      'INBOX',
      Buffer.from(`From: a@example.com\r\nSubject: mail ${mails}\r\n\r\ntext\r\n`),
    );
  }
}

test('a pod that was killed with SIGKILL at any of its steps is followed by one that loses no mail and starts none twice', async () => {
  expect(await (await poll()).ended).toBe(0);
  expect(await runs()).toEqual([]);
  for (const steps of [0, 1, 2, 7, 12]) {
    await deliver(10);
    let left = steps;
    await store.conn.command('hdel', keysOf(project).poll(UID), 'at', 'notBefore');
    const pod = start();
    passes = () => {
      left -= 1;
      if (left < 0) pod.signal('SIGKILL');
      return left >= 0;
    };
    // Killed, but for one that had nothing more to do.
    await pod.ended;
    passes = () => true;
  }
  expect(await (await poll()).ended).toBe(0);
  expect(await runs()).toHaveLength(50);
  await poll();
  expect(await runs()).toHaveLength(50);
}, 120_000);

test('a pod that must end aborts its polls and exits with a failure, so that its Job creates another pod', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const called = once(silent, 'connection');
  const { port } = silent.address() as AddressInfo;
  const imap = { host: '127.0.0.1', port, tls: 'None', username: 'shop' } as const;
  const spec = { imap: { ...imap, passwordRef: { name: 'accounts', key: 'password' } } };
  await client.create(credentialResource, { metadata: { name: 'silent', namespace }, spec });
  await putTrigger(store.conn, project, { ...trigger, fields: { credential: 'silent' } });
  const pod = start();
  await called;
  pod.signal('SIGTERM');
  expect(await pod.ended).toBe(143);
  expect(await store.conn.command('hexists', keysOf(project).poll(UID), 'token')).toBe(0);
  silent.close();
});

test('a credential or Secret that is corrected while a pod runs is used by the next poll', async () => {
  const secret = { metadata: { name: 'wrong', namespace } };
  const specAt = (port: number) => {
    const passwordRef = { name: secret.metadata.name, key: 'password' };
    return { imap: { host: '127.0.0.1', port, tls: 'None', username: 'shop', passwordRef } as const };
  };
  const credential = { name: 'mended', namespace };
  await client.apply(roles, poolRole(namespace, ['accounts', 'wrong']));
  await client.create(secrets, { ...secret, data: { password: btoa('wrong') } });
  await client.apply(credentialResource, { metadata: credential, spec: specAt(await freePort()) });
  const fields = { credential: credential.name };
  await putTrigger(store.conn, project, { ...trigger, fields, intervalSeconds: 2 });
  const pod = start();
  const says = (reason: string) => async () => (await state()).failure?.reason === reason;
  await pollUntil('a poll of the wrong port', says('Unreachable'), { timeoutMs: 10_000 });
  await client.apply(credentialResource, { metadata: credential, spec: specAt(mail.port) });
  await pollUntil('a poll with the wrong password', says('Rejected'), { timeoutMs: 10_000 });
  await client.apply(secrets, { ...secret, data: { password: btoa(IMAP_PASSWORD) } });
  const works = async () => (await state()).polledAt !== undefined;
  await pollUntil('a poll that works', works, { timeoutMs: 10_000 });
  // It was the one that polled first.
  pod.signal('SIGTERM');
  expect(await pod.ended).toBe(143);
});

test('an account that is added while a pod runs is available to the first poll that needs it', async () => {
  await putTrigger(store.conn, project, { ...trigger, intervalSeconds: 2 });
  const pod = start();
  const polledAt = async () => (await state()).polledAt;
  const first = await pollUntil('a poll', polledAt, { timeoutMs: 10_000 });
  // By then what the pod has read of the credentials is two seconds old.
  await pollUntil('another poll', async () => (await polledAt()) !== first, { timeoutMs: 10_000 });
  const imap = { host: '127.0.0.1', port: mail.port, tls: 'None', username: 'later' } as const;
  const spec = { imap: { ...imap, passwordRef: { name: 'accounts', key: 'password' } } };
  await client.create(credentialResource, { metadata: { name: 'later', namespace }, spec });
  const names = { workflow: 'later', workflowUid: 'uid-later', place: 'later' };
  await putTrigger(store.conn, project, { ...trigger, ...names, fields: { credential: 'later' } });
  const polled = await pollUntil(
    'a poll of it',
    async () => {
      const found = await readPoll(store.conn, project, names.workflowUid);
      const isLooked = found && !isUnavailable(found) && (found.polledAt ?? found.failure);
      return isLooked !== undefined && found;
    },
    { timeoutMs: 10_000 },
  );
  expect(polled).toMatchObject({ polledAt: expect.any(Number) });
  pod.signal('SIGTERM');
  expect(await pod.ended).toBe(143);
});

test('with no rights on a Secret, and with no account, it says what is wrong, and no secret', async () => {
  const nobody = await writeKubeconfig(api, 'nobody', 'none');
  const pod = await poll({ KUBECONFIG: nobody });
  expect((await state()).failure).toMatchObject({ reason: 'CredentialMissing', inARow: 1 });
  expect(await pod.ended).toBe(0);
  await client.delete(credentialResource, { namespace, name: 'inbox' });
  await poll();
  expect((await state()).failure).toEqual({
    reason: 'CredentialMissing',
    message: 'the Credential inbox does not exist: create it',
    inARow: 2,
  });
  expect(pod.log.join('\n')).not.toContain(IMAP_PASSWORD);
});

test('what is missing in its environment is named', async () => {
  const errors: string[] = [];
  const pod = startProgram('poll', { PROJECT_UID: 'x' }, { errors });
  expect(await pod.ended).not.toBe(0);
  expect(errors.join('\n')).toContain(
    'Invalid environment of the poll pod: missing POD_NAMESPACE, POD_NAME, REDIS_URL',
  );
});
