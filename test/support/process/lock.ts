/** A lock between processes that the kernel releases when its holder ends, however it ends. */
import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Does the work while no other process holds the lock of that path; `onWait` is called once when it has to
 * wait.
 */
export async function withLock<T>(path: string, onWait: () => void, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(path), { recursive: true });
  // The child holds the lock for as long as our end of the pipe is open.
  const holder = spawn('flock', ['--exclusive', path, 'sh', '-c', 'echo locked; exec cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  const waiting = setTimeout(onWait, 500);
  try {
    await new Promise<void>((resolve, reject) => {
      holder.stdout.once('data', () => resolve());
      holder.once('error', (cause) =>
        reject(new Error('flock (of util-linux) is needed for a lock', { cause })),
      );
      holder.once('exit', (code) => reject(new Error(`flock could not lock ${path} (status ${code})`)));
    });
    clearTimeout(waiting);
    return await work();
  } finally {
    clearTimeout(waiting);
    const ended = new Promise((resolve) => holder.once('exit', resolve));
    holder.stdin.end();
    if (holder.exitCode === null && holder.pid) await ended;
  }
}
