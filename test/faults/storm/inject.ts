/** Does one fault of a storm to its programs, links, servers and clocks, and mends it. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ClockSlip, EndedRun, Loss } from '../evidence.ts';
import { loseData } from './lost.ts';
import type { StormFault } from './scenes.ts';
import { OWN_PROGRAMS, type OwnProgram } from './programs.ts';
import type { StormHarness } from './harness.ts';

/** What the checker must know of a fault. */
export type Told = {
  /** It has begun, at that target. */
  begun: (target: string) => void;
  lost: (loss: Loss, ended: readonly EndedRun[]) => void;
  slipped: (slip: ClockSlip) => void;
};

const LATE_MS = 500;
const FSYNC_MS = 80;
const CLOCK_MS = 30_000;
/** So often a store that is away is asked until it can be emptied. */
const RETRY_MS = 200;
const LOSE_WITHIN_MS = 30_000;

/** Resolves when it is over. Throws where it cannot be done. */
export async function injectStorm(harness: StormHarness, fault: StormFault, told: Told): Promise<void> {
  const { kind, seconds } = fault;
  const [action = '', ...rest] = kind.split('-');
  if (kind === 'lose-store') return lose(harness, told);
  if (kind === 'slow-fsync') return slowFsync(harness, seconds, told);
  if (action === 'clock') return shiftClock(harness, rest as [string, OwnProgram | 'redis'], seconds, told);
  if (action === 'kill') return kill(harness, rest.join('-'), fault, told);
  if (action === 'freeze') return freeze(harness, rest.join('-'), fault, told);
  return disturb(harness, action, rest as [OwnProgram, 'redis' | 'apiserver'], { seconds, told });
}

const isOwn = (name: string): name is OwnProgram => OWN_PROGRAMS.some((own) => own === name);

function keptOf({ programs }: StormHarness, name: OwnProgram, pick: number) {
  const kept = programs[name][Math.min(Math.floor(pick * programs[name].length), programs[name].length - 1)];
  if (!kept) throw new Error(`no ${name} runs`);
  return kept;
}

/** While a server is away its address refuses connections. */
function refuse({ links }: StormHarness, server: 'redis' | 'apiserver'): () => Promise<void> {
  const ends = OWN_PROGRAMS.map((own) => links[own][server].begin('refused'));
  return async () => {
    await Promise.all(ends.map((end) => end()));
  };
}

async function kill(
  harness: StormHarness,
  name: string,
  { seconds, pick }: StormFault,
  { begun }: Told,
): Promise<void> {
  if (isOwn(name)) {
    const kept = keptOf(harness, name, pick);
    kept.kill();
    return begun(kept.name);
  }
  const { redis, server } = harness.base;
  if (name === 'redis') {
    await redis.kill();
    begun(name);
    const end = refuse(harness, 'redis');
    await delay(seconds * 1_000);
    await redis.restart();
    return end();
  }
  const part = server.parts[name as 'etcd' | 'kube-apiserver'];
  await part.kill();
  begun(name);
  const end = name === 'etcd' ? async () => undefined : refuse(harness, 'apiserver');
  await delay(seconds * 1_000);
  await part.start();
  await end();
}

async function freeze(
  harness: StormHarness,
  name: string,
  { seconds, pick }: StormFault,
  { begun }: Told,
): Promise<void> {
  const thaw = stop(harness, name, pick, begun);
  await delay(seconds * 1_000);
  thaw();
}

function stop(harness: StormHarness, name: string, pick: number, begun: Told['begun']): () => void {
  if (isOwn(name)) {
    const kept = keptOf(harness, name, pick);
    const thaw = kept.freeze();
    begun(kept.name);
    return thaw;
  }
  const { redis, server } = harness.base;
  const pid = name === 'redis' ? redis.pid() : server.parts[name as 'etcd' | 'kube-apiserver'].pid();
  signal(pid, 'SIGSTOP');
  begun(name);
  return () => signal(pid, 'SIGCONT');
}

/** It may have been killed by another fault meanwhile. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Then another process runs, to which nothing was done.
  }
}

const TROUBLES = { cut: 'silent', deaf: 'deaf', refuse: 'refused', late: 'late' } as const;

async function disturb(
  { links }: StormHarness,
  action: string,
  [own, server]: [OwnProgram, 'redis' | 'apiserver'],
  { seconds, told }: { seconds: number; told: Told },
): Promise<void> {
  const trouble = TROUBLES[action as keyof typeof TROUBLES];
  const end = links[own][server].begin(trouble, trouble === 'late' ? LATE_MS : 0);
  told.begun(`${own} to ${server}`);
  await delay(seconds * 1_000);
  await end();
}

async function lose({ direct, stored }: StormHarness, { begun, lost }: Told): Promise<void> {
  const deadline = performance.now() + LOSE_WITHIN_MS;
  for (;;) {
    try {
      const { loss, ended } = await loseData(direct, stored);
      begun('redis');
      return lost(loss, ended);
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await delay(RETRY_MS);
    }
  }
}

function shimOf({ shims }: StormHarness, name: OwnProgram | 'redis') {
  if (!shims) throw new Error('without a C compiler no clock can be set, and no fsync be slow');
  return shims[name];
}

async function slowFsync(harness: StormHarness, seconds: number, { begun }: Told): Promise<void> {
  const shim = shimOf(harness, 'redis');
  shim.setFsync(FSYNC_MS);
  begun('redis');
  await delay(seconds * 1_000);
  shim.setFsync(0);
}

async function shiftClock(
  harness: StormHarness,
  [direction, name]: [string, OwnProgram | 'redis'],
  seconds: number,
  { begun, slipped }: Told,
): Promise<void> {
  const shim = shimOf(harness, name);
  const ms = direction === 'ahead' ? CLOCK_MS : -CLOCK_MS;
  const from = Date.now();
  shim.setClock(ms);
  begun(name);
  await delay(seconds * 1_000);
  shim.setClock(0);
  if (name === 'redis') slipped({ from, until: Date.now(), ms });
}
