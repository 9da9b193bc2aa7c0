/** Where the passwords of the run store come from, before anything else runs. */
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../kube/clock.ts';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import { namespaces, secrets } from '../../../kube/resource.ts';
import type { OperatorConfig } from '../../../operator/shared/config.ts';
import { maintainAclUsers } from '../../../operator/store/aclUsers.ts';
import { createStoreChanges } from '../../../operator/store/changes.ts';
import { watchStore } from '../../../operator/store/watch.ts';
import { ensureStoreSecret, readStorePasswords } from '../../../operator/store/secret.ts';
import {
  ensurePoolAccount,
  GATEWAY_ACCOUNT,
  OPERATOR_ACCOUNT,
  poolAccount,
} from '../../../store/accounts.ts';
import { connectRunStore } from '../../../store/connection.ts';
import { aclFile } from '../../support/runStore/aclFile.ts';
import type { ApiServer } from '../../support/cluster/apiserver.ts';
import { sharedApiServer } from '../../support/cluster/sharedApiServer.ts';
import { createCollectedLog } from '../../support/logs/collectedLog.ts';
import { runCommand } from '../../support/process/command.ts';
import { makeFolder, type Folder } from '../../support/process/folder.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { renderedChart } from '../../support/cluster/renderedChart.ts';
import { startRedis } from '../../support/runStore/redis.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const ref = { namespace: 'system', name: 'run-store' };

let server: ApiServer;
let client: KubeClient;
let folder: Folder;
/** The files that the pod of Redis mounts from its ConfigMap. */
let scripts: Folder;

beforeAll(async () => {
  server = await sharedApiServer();
  client = createClient(server.connection);
  await client.create(namespaces, { metadata: { name: ref.namespace } });
  folder = await makeFolder('accounts');
  scripts = await makeFolder('scripts');
  const configMap = await renderedChart(() => server).find('ConfigMap', 'windlass-redis');
  for (const [name, text] of Object.entries(configMap?.data ?? {}))
    await writeFile(join(scripts.path, name), text);
}, 600_000);

afterAll(async () => {
  await client?.close();
  await server?.stop();
  folder?.remove();
  scripts?.remove();
});

/**
 * Writes the list as the pod does before Redis starts; `pod`: the folder that its containers share with TLS.
 */
const writeList = (list: string, passwords: string, ...pod: string[]) =>
  runCommand('sh', [
    join(scripts.path, 'accounts.sh'),
    list,
    join(scripts.path, 'accounts.acl'),
    passwords,
    ...pod,
  ]);

test('replicas that start together make one Secret, and what is in it is kept', async () => {
  await Promise.all([1, 2, 3].map(() => ensureStoreSecret(client, ref)));
  const first = await client.get(secrets, ref);
  expect(Object.keys(first.data ?? {}).toSorted()).toEqual(['gateway-password', 'operator-password']);
  await ensureStoreSecret(client, ref);
  expect((await client.get(secrets, ref)).metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  const { operator, gateway } = await readStorePasswords(client, ref);
  for (const password of [operator, gateway]) expect(password).toMatch(/^[\w-]{43}$/);
});

test('a Secret of somebody else that lacks the key is told with the command that makes it', async () => {
  await expect(readStorePasswords(client, { ...ref, name: 'other' })).rejects.toThrow(
    'Secret other has no key operator-password. Create it: kubectl -n system create secret generic other --from-literal=operator-password=',
  );
});

test('Redis starts with the accounts that its pod writes, which keep those of projects and no other, and gets those of the operator again', async () => {
  const { path } = folder;
  const list = join(path, 'users.acl');
  const write = () => writeList(list, path);
  await writeFile(join(path, 'operator-password'), 'of the operator');
  await expect(write()).rejects.toThrow('gateway-password');
  await writeFile(join(path, 'gateway-password'), 'of the gateway');
  await write();
  const first = await readFile(list, 'utf8');
  expect(first).toBe(
    aclFile({ operatorSha256: sha256('of the operator'), gatewaySha256: sha256('of the gateway') }),
  );
  const redis = await startRedis({ acl: first });
  const conn = connectRunStore({
    url: redis.url,
    username: OPERATOR_ACCOUNT,
    password: 'of the operator',
    name: 'test',
  });
  try {
    await conn.ready(AbortSignal.timeout(10_000));
    const account = await ensurePoolAccount(conn, 'project-1', 'a'.repeat(64));
    expect(account).toEqual({ outcome: 'done', changed: true });
    await ensureStoreSecret(client, { ...ref, name: 'rotated' });
    const config = { REDIS_SECRET_CREATE: true, REDIS_SECRET: 'rotated' } as OperatorConfig;
    const log = createCollectedLog();
    const storeChanges = createStoreChanges();
    const context = { client, config, conn, log, clock: systemClock, storeChanges };
    const watched = {
      caches: { routes: { list: () => [], onChange: () => () => undefined } },
      store: { invalidateAll: () => undefined },
      scaling: { asleep: new Map<string, boolean>() },
    };
    const stopping = new AbortController();
    const keeping = Promise.all([
      maintainAclUsers(context, ref.namespace, stopping.signal),
      watchStore({ ...context, ...watched }, stopping.signal),
    ]);
    const updates = () => log.messages('info').filter((text) => text === 'updated the run store accounts');
    await pollUntil('the accounts', () => updates().length === 1, { timeoutMs: 10_000, everyMs: 20 });
    const { operator, gateway } = await readStorePasswords(client, { ...ref, name: 'rotated' });
    expect(await conn.command('auth', OPERATOR_ACCOUNT, operator)).toBe('OK');
    const gatewayRules = async () => String(await conn.command('acl', 'getuser', GATEWAY_ACCOUNT));
    expect(await gatewayRules()).toContain('+zcard');
    // A pod that starts again writes the rules of its chart, which may be older than the operator.
    const own = { operatorSha256: sha256('of the operator'), gatewaySha256: sha256(gateway) };
    await writeFile(join(redis.folder, 'users.acl'), aclFile(own).replaceAll(' +zcard', ''));
    await redis.restart();
    await pollUntil('the accounts again', () => updates().length === 2, { timeoutMs: 20_000, everyMs: 20 });
    expect(await gatewayRules()).toContain('+zcard');
    stopping.abort();
    await keeping;
  } finally {
    await conn.close();
    await redis.stop();
  }
  const pool = `user ${poolAccount('project-1')} on ~wl:{project-1}:*\n`;
  await writeFile(list, `${first}${pool}user intruder on nopass ~* +@all\n`);
  await write();
  expect(await readFile(list, 'utf8')).toBe(`${first}${pool}`);
});

test('Redis starts with the accounts of projects, too, once TLS is switched on', async () => {
  const { path } = folder;
  const list = join(path, 'tls.acl');
  await writeFile(join(path, 'operator-password'), 'of the operator');
  await writeFile(join(path, 'gateway-password'), 'of the gateway');
  const pools = [1, 2].map(
    (number) => `user ${poolAccount(`project-${number}`)} on ~wl:{project-${number}}:*\n`,
  );
  await writeFile(list, pools.join(''));
  await writeList(list, path, path);
  const written = await readFile(list, 'utf8');
  expect(written.endsWith(`\n${pools.join('')}`)).toBe(true);
  const redis = await startRedis({ acl: written });
  await redis.stop();
});
