/**
 * Requests that each have a connection of their own, and what one costs the process that is asked: its
 * processor time, since whoever asks this way is busier than the process.
 */
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';

const CONNECTIONS = 32;
const TICKS_PER_SECOND = 100;

export type Singles = {
  pid: number;
  port: number;
  /** The text that is sent; nothing more comes, whatever it announces. */
  request: string;
  seconds: number;
  /** What every answer begins with. */
  answer: string;
};

/** Microseconds of processor time for one request. Throws when an answer is another. */
export async function costOfSingles({ pid, port, request, seconds, answer }: Singles): Promise<number> {
  const until = performance.now() + seconds * 1_000;
  const before = await processorTicks(pid);
  const counts = await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      let count = 0;
      for (; performance.now() < until; count += 1) {
        const answered = await askOnce(port, request);
        if (!answered.startsWith(answer)) throw new Error(`An answer is another: ${answered.slice(0, 200)}`);
      }
      return count;
    }),
  );
  const ticks = (await processorTicks(pid)) - before;
  return (ticks / TICKS_PER_SECOND / counts.reduce((sum, count) => sum + count, 0)) * 1e6;
}

function askOnce(port: number, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    socket.setEncoding('latin1').on('data', (part: string) => (text += part));
    socket.once('error', reject);
    socket.once('close', () => resolve(text));
  });
}

/** User and system time (`utime` and `stime` of proc_pid_stat(5)). */
export async function processorTicks(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}
