/**
 * n8n as its users start it, from npm, in a temporary folder: one process with SQLite, and one active
 * workflow.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { runCommand } from '../support/process/command.ts';
import { pollUntil } from '../support/time/poll.ts';
import { freePort } from '../support/process/freePort.ts';

export type N8n = { url: string; stop: () => Promise<void> };

const INSTALL_MS = 1_800_000;
const START_MS = 180_000;
const PATH = 'orders';
const WORKFLOW_ID = 'windlassbench001';

/**
 * What stands in for packages that n8n asks for and a registry may not have: `xlsx` comes from a server of
 * its maker's, and `cssomnom` was not available. Neither takes part in what is measured.
 */
const OVERRIDES = { xlsx: '0.18.5', cssomnom: 'npm:cssom@0.5.0' };

/**
 * Installs the release into the folder, and gives the version that it has. Scripts of packages are not run,
 * but for SQLite's.
 */
export async function installN8n(folder: string, release: string): Promise<string> {
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, overrides: OVERRIDES }));
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  const options = { cwd: folder, timeoutMs: INSTALL_MS, log: join(folder, 'install.log') };
  await runCommand('npm', ['install', '--ignore-scripts', ...quiet, `n8n@${release}`], options);
  // The headers of the Node that will run it.
  const env = { ...process.env, npm_config_nodedir: dirname(dirname(process.execPath)) };
  await runCommand('npm', ['rebuild', ...quiet, '--build-from-source', 'sqlite3'], { ...options, env });
  return installedVersion(folder);
}

/** The version of n8n in that folder. Throws where there is none. */
export async function installedVersion(folder: string): Promise<string> {
  const text = await readFile(join(folder, 'node_modules/n8n/package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

export type Saving = 'all' | 'none';

/**
 * Starts it on an empty database, with executions that succeed saved or not, and waits until its webhook
 * answers.
 */
export async function startN8n(
  folder: string,
  data: string,
  { saving, answer }: { saving: Saving; answer: object },
): Promise<N8n> {
  const [port, broker] = [await freePort(), await freePort()];
  const env = {
    PATH: process.env['PATH'],
    HOME: data,
    N8N_USER_FOLDER: data,
    N8N_PORT: String(port),
    N8N_LISTEN_ADDRESS: '127.0.0.1',
    N8N_RUNNERS_BROKER_PORT: String(broker),
    N8N_DIAGNOSTICS_ENABLED: 'false',
    N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
    N8N_TEMPLATES_ENABLED: 'false',
    EXECUTIONS_DATA_SAVE_ON_SUCCESS: saving,
  };
  const program = join(folder, 'node_modules/n8n/bin/n8n');
  const workflow = join(data, 'workflow.json');
  await writeFile(workflow, JSON.stringify([workflowOf(answer)]));
  const once = (...args: string[]) =>
    runCommand(process.execPath, [program, ...args], { env, timeoutMs: START_MS });
  await once('import:workflow', `--input=${workflow}`);
  await once('update:workflow', `--id=${WORKFLOW_ID}`, '--active=true');
  const child = spawn(process.execPath, [program, 'start'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  const log = createWriteStream(join(data, 'n8n.log'));
  child.stdout.pipe(log);
  child.stderr.pipe(log);
  const stop = async () => {
    process.removeListener('exit', killWithUs);
    await end(child);
  };
  const url = `http://127.0.0.1:${port}/webhook/${PATH}`;
  const answers = async () => {
    if (child.exitCode !== null)
      throw new Error(`n8n ended with ${child.exitCode}: ${join(data, 'n8n.log')}`);
    const headers = { 'content-type': 'application/json' };
    return (
      (await fetch(url, { method: 'POST', body: '{"customer":{"name":"first"}}', headers })).status === 201
    );
  };
  try {
    await pollUntil('n8n answering', answers, { timeoutMs: START_MS, everyMs: 500 });
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, stop };
}

/** The same as ours: a webhook, and a node that answers. */
function workflowOf(answer: object): object {
  const [webhook, respond] = ['Webhook', 'Respond'];
  return {
    id: WORKFLOW_ID,
    name: 'bench',
    active: false,
    settings: {},
    nodes: [
      {
        id: 'a6a0f3c2-0000-4000-8000-000000000001',
        name: webhook,
        type: 'n8n-nodes-base.webhook',
        typeVersion: 2,
        position: [0, 0],
        webhookId: 'a6a0f3c2-0000-4000-8000-000000000002',
        parameters: { httpMethod: 'POST', path: PATH, responseMode: 'responseNode', options: {} },
      },
      {
        id: 'a6a0f3c2-0000-4000-8000-000000000003',
        name: respond,
        type: 'n8n-nodes-base.respondToWebhook',
        typeVersion: 1.1,
        position: [220, 0],
        parameters: {
          respondWith: 'json',
          responseBody: `=${JSON.stringify(answer)}`,
          options: { responseCode: 201 },
        },
      },
    ],
    connections: { [webhook]: { main: [[{ node: respond, type: 'main', index: 0 }]] } },
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
