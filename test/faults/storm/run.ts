/**
 * A storm: scene after scene of overlapping faults, each as soon as events are accepted again, whatever still
 * waits of the one before.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { FaultRecord, Measure } from '../evidence.ts';
import { underLoad, type FaultRun, type Load } from '../load.ts';
import { drained, loadBack, NotSteady } from '../recovery.ts';
import { targetsOf } from '../workflows.ts';
import { injectStorm } from './inject.ts';
import { OWN_PROGRAMS } from './programs.ts';
import { CHOSEN, needsShim, scenesOf, type Scene, type StormFault } from './scenes.ts';
import type { StormHarness } from './harness.ts';

export type StormOptions = {
  harness: StormHarness;
  /** At least so many, and until each of the chosen scenes has been. */
  events: number;
  rate: number;
  /** At most so long for load and faults together. */
  minutes: number;
  seed: number;
  tell: (line: string) => void;
};

/** A fault without load shows nothing: at least this share of the rate is accepted when a scene begins. */
const LEAST_LOAD = 0.5;
const LOADED_WITHIN_MS = 90_000;
const DRAINED_WITHIN_MS = 150_000;

/** Never throws for what the system did: that is a violation, or makes the run invalid. */
export function runStorm({ harness, rate, tell, ...options }: StormOptions): Promise<FaultRun> {
  const targets = targetsOf(harness.publicURL, harness.project);
  return underLoad({ harness, targets, rate, tell }, async (load) => {
    const delays = monitorEventLoopDelay();
    delays.enable();
    const invalid = await doScenes(load, options);
    const stall = (delays.max / 1e9).toFixed(2);
    load.measures.push({ what: 'longest time in which the sender itself stood still', seen: `${stall} s` });
    load.measures.push(...crashesOf(harness));
    return invalid;
  });
}

/**
 * Programs that ended although no fault killed them. An operator that leads must end when it cannot renew its
 * Lease.
 */
function crashesOf({ programs }: StormHarness): Measure[] {
  return OWN_PROGRAMS.map((name) => {
    const crashes = programs[name].reduce((sum, kept) => sum + kept.crashes(), 0);
    return { what: `${name}: ends that were no kill`, seen: String(crashes) };
  });
}

type SceneOptions = Pick<StormOptions, 'events' | 'minutes' | 'seed'>;

/** Gives why the run does not count, where it does not. */
async function doScenes(
  load: Load<StormHarness>,
  { events, minutes, seed }: SceneOptions,
): Promise<string | undefined> {
  const deadline = performance.now() + minutes * 60_000;
  const draining: Promise<void>[] = [];
  const others = scenesOf(seed);
  let done = 0;
  try {
    while (done < CHOSEN.length || load.sender.events.length < events) {
      if (performance.now() > deadline)
        return `${done} scenes and ${load.sender.events.length} events fitted into the time`;
      const scene = CHOSEN[done] ?? (others.next().value as Scene);
      done += 1;
      load.tell(`scene ${done}: ${scene.name}`);
      draining.push(...(await play(load, done, scene)));
    }
    await Promise.all(draining);
    return undefined;
  } catch (error) {
    if (!(error instanceof NotSteady)) throw error;
    load.tell(`✗ ${error.message}`);
    return error.message;
  }
}

/**
 * Resolves when all faults of the scene are over; what it gives resolves when nothing waits any more of what
 * came before their end.
 */
async function play(load: Load<StormHarness>, number: number, scene: Scene): Promise<Promise<void>[]> {
  const loadBefore = await loadBack(load, LEAST_LOAD * load.rate, LOADED_WITHIN_MS);
  const possible = scene.faults.filter((fault) => load.harness.shims !== undefined || !needsShim(fault));
  const records = await Promise.all(possible.map((fault) => hit(load, fault, { number, scene, loadBefore })));
  return records.map((record) => drained(record, load, DRAINED_WITHIN_MS));
}

type Context = { number: number; scene: Scene; loadBefore: number };

async function hit(
  load: Load<StormHarness>,
  fault: StormFault,
  { number, scene, loadBefore }: Context,
): Promise<FaultRecord> {
  await delay(fault.after * 1_000);
  const record: FaultRecord = {
    number,
    scene: scene.name,
    kind: fault.kind,
    target: '',
    at: Date.now(),
    endedAt: Date.now(),
    loadBefore,
  };
  await injectStorm(load.harness, fault, {
    begun: (target) => load.begin(Object.assign(record, { target, at: Date.now() })),
    lost: load.lose,
    slipped: (slip) => void load.slips.push(slip),
  });
  record.endedAt = Date.now();
  return record;
}
