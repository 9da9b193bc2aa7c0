/** Where the passwords of the run store come from, before anything else runs. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import { namespaces, secrets } from '../../../kube/resource.ts';
import { ensureStoreSecret, readOperatorPassword } from '../../../operator/store/secret.ts';
import { ensurePoolAccount, OPERATOR_ACCOUNT, poolAccount } from '../../../runs/accounts.ts';
import { connectRunStore } from '../../../runs/connection.ts';
import { startApiServer, type ApiServer } from '../../support/apiserver.ts';
import { runCommand } from '../../support/command.ts';
import { makeFolder, type Folder } from '../../support/folder.ts';
import { startRedis } from '../../support/redis.ts';

const ref = { namespace: 'system', name: 'run-store' };
const program = join(import.meta.dirname, '../../../operator/initRunStore.ts');

let server: ApiServer;
let client: KubeClient;
let folder: Folder;

beforeAll(async () => {
  server = await startApiServer();
  client = createClient(server.connection);
  await client.create(namespaces, { metadata: { name: ref.namespace } });
  folder = await makeFolder('accounts');
}, 600_000);

afterAll(async () => {
  await client?.close();
  await server?.stop();
  folder?.remove();
});

test('replicas that start together make one Secret, and what is in it is kept', async () => {
  await Promise.all([1, 2, 3].map(() => ensureStoreSecret(client, ref)));
  const first = await client.get(secrets, ref);
  expect(Object.keys(first.data ?? {}).toSorted()).toEqual(['gateway-password', 'operator-password']);
  await ensureStoreSecret(client, ref);
  expect((await client.get(secrets, ref)).metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  expect(await readOperatorPassword(client, ref)).toMatch(/^[\w-]{43}$/);
});

test('a Secret of somebody else that lacks the key is told with the command that makes it', async () => {
  await expect(readOperatorPassword(client, { ...ref, name: 'other' })).rejects.toThrow(
    'Secret other has no key operator-password. Create it: kubectl -n system create secret generic other --from-literal=operator-password=',
  );
});

test('Redis starts with the accounts that are written for it, and keeps those of projects', async () => {
  const { path } = folder;
  const list = join(path, 'users.acl');
  const write = () => runCommand(process.execPath, [program, list, path]);
  await writeFile(join(path, 'operator-password'), 'of the operator');
  await writeFile(join(path, 'gateway-password'), 'of the gateway');
  await write();
  const redis = await startRedis({ acl: await readFile(list, 'utf8') });
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
  } finally {
    await conn.close();
    await redis.stop();
  }
  await writeFile(
    list,
    `${await readFile(list, 'utf8')}user ${poolAccount('project-1')} on ~wl:{project-1}:*\n`,
  );
  await write();
  expect(await readFile(list, 'utf8')).toContain(`user ${poolAccount('project-1')} on`);
});
