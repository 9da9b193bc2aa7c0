/**
 * What each process of Windlass costs while something that it needs is away: processor time, log lines,
 * restarts.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { layoutOf } from '../cluster/builtin/layout.ts';
import { readClusterConfig } from '../cluster/config.ts';
import { processesOf, type FoundProcess, type Program } from '../support/process/processes.ts';
import type { Violation } from './violation.ts';
import type { Measure } from './evidence.ts';
import type { Harness } from './harness.ts';

/** Of one pod, over the time. `linesPerSecond` are those of the container's log. */
export type Burden = {
  program: Program;
  pod: string;
  cpuPercent: number;
  linesPerSecond: number;
  restarted: boolean;
};

const WATCHED: readonly Program[] = ['gateway', 'operator', 'runner'];
const MOST_CPU_PERCENT = 20;
const MOST_LINES_PER_SECOND = 5;
/** Linux counts processor time for programs in hundredths of a second, on every architecture. */
const TICK_SECONDS = 0.01;

type Sample = FoundProcess & { cpuSeconds: number };

/** Begins to measure; the function that it gives ends that. */
export async function startBurden(harness: Harness): Promise<() => Promise<Burden[]>> {
  const from = Date.now();
  const before = await sample(harness);
  return async () => {
    const until = Date.now();
    const after = await sample(harness);
    const seconds = (until - from) / 1_000;
    return Promise.all(
      after.map(async (process) => {
        const same = before.find(({ pid }) => pid === process.pid);
        const lines = await linesOf(harness.cluster.name, process.podUid ?? '', from, until);
        return {
          program: process.program,
          pod: process.podUid ?? '',
          cpuPercent: ((process.cpuSeconds - (same?.cpuSeconds ?? 0)) / seconds) * 100,
          linesPerSecond: lines / seconds,
          restarted: same === undefined,
        };
      }),
    );
  };
}

/** The most that a process of each program has cost. */
export function burdenMeasures(burdens: readonly Burden[], when: string): Measure[] {
  return WATCHED.map((program) => {
    const each = burdens.filter((burden) => burden.program === program);
    const cpu = Math.max(...each.map(({ cpuPercent }) => cpuPercent));
    const lines = Math.max(...each.map(({ linesPerSecond }) => linesPerSecond));
    return {
      what: `${program}, ${when}: the busiest process, the one that logs most`,
      seen: `${cpu.toFixed(1)} % of a core, ${lines.toFixed(2)} lines a second`,
      promised: `< ${MOST_CPU_PERCENT} %, < ${MOST_LINES_PER_SECOND} lines a second`,
    };
  });
}

/**
 * Processes that spin, fill the log, or ended because something else was away, other than those that may: the
 * operator that leads must end when it can no longer renew its Lease.
 */
export function tooHeavy(
  burdens: readonly Burden[],
  when: string,
  mayRestart: readonly Program[] = [],
): Violation[] {
  return burdens.flatMap(({ program, pod, cpuPercent, linesPerSecond, restarted }): Violation[] => {
    const told = `${program} (pod ${pod}), ${when},`;
    const found: Violation[] = [];
    if (restarted && !mayRestart.includes(program))
      found.push({ kind: 'restarted', message: `${told} started again` });
    if (cpuPercent >= MOST_CPU_PERCENT) {
      found.push({ kind: 'too-busy', message: `${told} took ${cpuPercent.toFixed(1)} % of a core` });
    }
    if (linesPerSecond >= MOST_LINES_PER_SECOND) {
      const message = `${told} logged ${linesPerSecond.toFixed(1)} lines a second`;
      found.push({ kind: 'too-talkative', message });
    }
    return found;
  });
}

async function sample({ cluster, project }: Harness): Promise<Sample[]> {
  const found = await Promise.all(WATCHED.map((program) => processesOf(cluster.name, program, project)));
  return Promise.all(
    found.flat().map(async (process) => {
      const stat = await readFile(`/proc/${process.pid}/stat`, 'utf8');
      return { ...process, cpuSeconds: cpuSecondsIn(stat) };
    }),
  );
}

/**
 * User and system time of all threads (proc_pid_stat(5), fields 14 and 15); the name in brackets may hold
 * blanks.
 */
export function cpuSecondsIn(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_SECONDS;
}

/** The kubelet's log files of a pod have one line per line of the container, each with its time. */
async function linesOf(cluster: string, podUid: string, from: number, until: number): Promise<number> {
  const folder = join(layoutOf(readClusterConfig().clustersFolder, cluster).folder, 'var/log/pods');
  const pod = (await readdir(folder)).find((name) => name.endsWith(`_${podUid}`));
  if (podUid === '' || pod === undefined) throw new Error(`pod ${podUid} has no log on this machine`);
  const names = await readdir(join(folder, pod), { recursive: true });
  const files = names.filter((name) => name.endsWith('.log'));
  const texts = await Promise.all(files.map((name) => readFile(join(folder, pod, name), 'utf8')));
  return texts
    .flatMap((text) => text.split('\n'))
    .map((line) => Date.parse(line.slice(0, line.indexOf(' '))))
    .filter((at) => at >= from && at <= until).length;
}
