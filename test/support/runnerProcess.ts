/** A runner as a process of its own, with real beats, so that tests can kill it as nothing in it expects. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startBeats } from '../../runs/beat.ts';
import { connectRunStore } from '../../runs/connection.ts';
import { startTestRunner, type CredentialTable } from './runnerProject.ts';

type Settings = { url: string; project: string; runner: string; credentials: CredentialTable };

/** A beat every 100 ms; others are dead after 1 s without one. */
export const QUICK = { everyMs: 100, deadAfterMs: 1_000 };

/** Starts it, and resolves when it claims. */
export async function spawnRunner(settings: Settings): Promise<ChildProcess> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), JSON.stringify(settings)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  const ended = once(child, 'exit').then(() => {
    throw new Error('the runner ended before it claimed');
  });
  await Promise.race([once(createInterface(child.stdout), 'line'), ended]);
  ended.catch(() => undefined);
  return child;
}

/** SIGKILL, and waits for the end. */
export async function killRunner(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function main(settings: Settings): Promise<void> {
  const { url, project, runner, credentials } = settings;
  const conn = connectRunStore({ url, name: runner });
  await conn.ready();
  const beats = startBeats({ url, project, runner, everyMs: QUICK.everyMs });
  startTestRunner(conn, project, { runner, credentials, beats, takeover: QUICK });
  console.log('claims');
}

if (import.meta.main) await main(JSON.parse(process.argv[2] ?? '') as Settings);
