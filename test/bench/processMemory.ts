/**
 * How much memory a Node process of this machine takes: what the kernel counts, and what of its heap is in
 * use.
 */
import { readFile } from 'node:fs/promises';

const MIB = 2 ** 20;
const COLLECTIONS = 2;

export type ProcessMemory = {
  /** As the kernel counts it, before anything was collected. */
  rssMiB: number;
  /** The most that it ever was. */
  mostMiB: number;
  /** Of JavaScript objects and the buffers that they hold, after garbage was collected. */
  liveMiB: number;
};

/** Of a process that was started with `--inspect` at that port. First as it is; then garbage is collected. */
export async function memoryOf({
  pid,
  inspectPort,
}: {
  pid: number;
  inspectPort: number;
}): Promise<ProcessMemory> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const line = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1_024;
  return {
    rssMiB: line('VmRSS') / MIB,
    mostMiB: line('VmHWM') / MIB,
    liveMiB: (await liveBytes(inspectPort)) / MIB,
  };
}

type HeapUsage = { usedSize: number; backingStorageSize?: number };
type Answer = { id: number; result?: HeapUsage; error?: { message: string } };

async function liveBytes(port: number): Promise<number> {
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
    webSocketDebuggerUrl: string;
  }[];
  const socket = new WebSocket(targets[0]?.webSocketDebuggerUrl ?? '');
  try {
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve, { once: true });
      socket.addEventListener('error', () => reject(new Error(`No inspector answers at port ${port}.`)), {
        once: true,
      });
    });
    // The first one only finds what finalizers then released.
    for (let done = 0; done < COLLECTIONS; done += 1) await ask(socket, 'HeapProfiler.collectGarbage');
    const { usedSize, backingStorageSize = 0 } = await ask(socket, 'Runtime.getHeapUsage');
    return usedSize + backingStorageSize;
  } finally {
    socket.close();
  }
}

let calls = 0;

function ask(socket: WebSocket, method: string): Promise<HeapUsage> {
  const id = (calls += 1);
  return new Promise((resolve, reject) => {
    const onMessage = ({ data }: MessageEvent) => {
      const answer = JSON.parse(String(data)) as Answer;
      if (answer.id !== id) return;
      socket.removeEventListener('message', onMessage);
      if (answer.result) resolve(answer.result);
      else reject(new Error(`${method}: ${answer.error?.message}`));
    };
    socket.addEventListener('message', onMessage);
    socket.send(JSON.stringify({ id, method }));
  });
}
