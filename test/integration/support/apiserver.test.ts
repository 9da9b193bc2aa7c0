/** The API server of the tests: it lets in whom it should, and goes with the process that started it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startApiServer } from '../../support/cluster/apiserver.ts';
import { runCommand } from '../../support/process/command.ts';
import { pollUntil } from '../../support/time/poll.ts';

const SOON = { timeoutMs: 30_000 };
const modulePath = join(import.meta.dirname, '../../support/cluster/apiserver.ts');

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

test('no process stays when the one that started them is killed', async () => {
  const script = `
    const { startApiServer } = await import(${JSON.stringify(modulePath)});
    console.log((await startApiServer()).logFolder);
    setInterval(() => {}, 1000);`;
  const owner = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const folder = await new Promise<string>((resolve, reject) => {
    owner.stdout.setEncoding('utf8').once('data', (text: string) => resolve(text.trim()));
    owner.once('exit', () => reject(new Error('it ended before the API server was ready')));
  });
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

async function processesOf(folder: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
  const lines = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  return lines.filter((line) => line.includes(`${folder}/`));
}
