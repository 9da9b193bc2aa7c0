/**
 * How much programs say and how much of the processor they take, over a time: what an outage must not change
 * much.
 */
import { readFileSync } from 'node:fs';

type Program = { pid: number; log: readonly string[] };

export type ProcessUsage = {
  program: string;
  /** Lines of its log, per second. */
  lines: number;
  /** Of one core: 1 is all of it. */
  cpu: number;
};

/** The clock of /proc, in ticks per second: the same on every Linux that Node runs on. */
const TICKS = 100;

/**
 * Begins to watch the programs; the function that it returns tells what they did since. A program that ended
 * meanwhile throws.
 */
export function watchProcessUsage(programs: Record<string, Program>): () => ProcessUsage[] {
  const from = performance.now();
  const before = Object.entries(programs).map(([program, { pid, log }]) => ({
    program,
    pid,
    log,
    lines: log.length,
    ticks: ticksOf(pid),
  }));
  return () => {
    const seconds = (performance.now() - from) / 1_000;
    return before.map(({ program, pid, log, lines, ticks }) => ({
      program,
      lines: (log.length - lines) / seconds,
      cpu: (ticksOf(pid) - ticks) / TICKS / seconds,
    }));
  };
}

/** The processor time of all threads of the process, its own and the kernel's for it. */
function ticksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the program, in parentheses, may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}
