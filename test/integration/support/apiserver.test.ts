/** The API server of the tests: it lets in whom it should, and goes with the process that started it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createClient } from '../../../kube/client.ts';
import { isNotFound } from '../../../kube/errors.ts';
import { configMaps, namespaces } from '../../../kube/resource.ts';
import { startApiServer } from '../../support/cluster/apiserver.ts';
import { sharedApiServer } from '../../support/cluster/sharedApiServer.ts';
import { runCommand } from '../../support/process/command.ts';
import { pollUntil } from '../../support/time/poll.ts';

const SOON = { timeoutMs: 30_000 };
const moduleFolder = join(import.meta.dirname, '../../support/cluster');

test('the token of a service account is let in with the rights that RBAC gives it, and stop leaves nothing', async () => {
  const server = await startApiServer();
  onTestFinished(server.stop);
  const kubectl = (...args: string[]) =>
    runCommand(join(server.binDir, 'kubectl'), ['--kubeconfig', server.kubeconfigPath, ...args]);
  await kubectl('create', 'serviceaccount', 'reader');
  await kubectl('create', 'role', 'reader', '--verb=list', '--resource=pods');
  await kubectl('create', 'rolebinding', 'reader', '--role=reader', '--serviceaccount=default:reader');
  const token = (await kubectl('create', 'token', 'reader')).trim();
  const asReader = ['--server', server.url, '--certificate-authority', server.caFile, '--token', token];
  const can = (verb: string) =>
    runCommand(join(server.binDir, 'kubectl'), [...asReader, 'auth', 'can-i', verb, 'pods']);
  // The authorizer learns of new roles from a watch.
  const mayList = async () => (await can('list')).trim() === 'yes';
  await pollUntil('the right to list', mayList, SOON);
  await expect(can('delete')).rejects.toThrow('no');

  await server.stop();
  expect(await processesOf(server.logFolder)).toEqual([]);
  expect(existsSync(server.logFolder)).toBe(false);
});

test('a shared API server has the content of its start again after its stop', async () => {
  const first = await sharedApiServer();
  const client = createClient(first.connection);
  onTestFinished(() => client.close());
  const ofDefault = { name: 'default' };
  await client.create(namespaces, { metadata: { name: 'shop' } });
  await client.create(configMaps, { metadata: { namespace: 'shop', name: 'a' } });
  await client.patch(namespaces, ofDefault, { metadata: { labels: { mine: 'yes' } } }, { type: 'merge' });
  const other = await sharedApiServer();
  expect(other.url).not.toBe(first.url);
  await first.stop();
  const again = await sharedApiServer();
  onTestFinished(again.stop);
  await Promise.all([first.stop(), other.stop()]);
  expect(again.url).toBe(first.url);
  await expect(client.get(configMaps, { namespace: 'shop', name: 'a' })).rejects.toSatisfy(isNotFound);
  await expect(client.get(namespaces, { name: 'shop' })).rejects.toSatisfy(isNotFound);
  expect((await client.get(namespaces, ofDefault)).metadata.labels).not.toHaveProperty('mine');
  await client.create(namespaces, { metadata: { name: 'shop' } });
}, 120_000);

test('a worker that is told to end leaves no shared API server', async () => {
  const { owner, folder } = await startOwner('sharedApiServer', { VITEST_WORKER_ID: '1' });
  const exited = once(owner, 'exit');
  owner.kill('SIGTERM');
  await exited;
  await pollUntil('the end of both', async () => (await processesOf(folder)).length === 0, SOON);
  expect(existsSync(folder)).toBe(false);
}, 120_000);

test('no process stays when the one that started them is killed', async () => {
  const { owner, folder } = await startOwner('startApiServer');
  expect(await processesOf(folder)).toHaveLength(2);
  // Until its exit is reported, the process still has an entry in /proc, which is what marks the folder as in
  // use.
  const exited = once(owner, 'exit');
  owner.kill('SIGKILL');
  await exited;
  const areGone = async () => (await processesOf(folder)).length === 0;
  await pollUntil('the end of etcd and kube-apiserver', areGone, SOON);
  // Its folder goes when the next one starts.
  await (await startApiServer()).stop();
  expect(existsSync(folder)).toBe(false);
  // It starts two.
}, 120_000);

/** A process that starts an API server with that function, and the folder of the server. */
async function startOwner(
  start: 'startApiServer' | 'sharedApiServer',
  env: Record<string, string> = {},
): Promise<{ owner: ChildProcess; folder: string }> {
  const module = join(moduleFolder, start === 'startApiServer' ? 'apiserver.ts' : 'sharedApiServer.ts');
  const script = `
    const { ${start} } = await import(${JSON.stringify(module)});
    console.log((await ${start}()).logFolder);
    setInterval(() => {}, 1000);`;
  const { VITEST_WORKER_ID: _, ...inherited } = process.env;
  const owner = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...inherited, ...env },
  });
  onTestFinished(() => void owner.kill('SIGKILL'));
  const folder = await new Promise<string>((resolve, reject) => {
    owner.stdout.setEncoding('utf8').once('data', (text: string) => resolve(text.trim()));
    owner.once('exit', () => reject(new Error('it ended before the API server was ready')));
  });
  return { owner, folder };
}

async function processesOf(folder: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
  const lines = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  return lines.filter((line) => line.includes(`${folder}/`));
}
