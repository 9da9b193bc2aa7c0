/**
 * Kills programs at the moments that matter to projects which fall asleep and wake: in an order by the seed,
 * one to two at a moment, then none for a while, so that what was killed is back.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { KubeConnection } from '../../../kube/config.ts';
import type { FaultRecord } from '../evidence.ts';
import { inject, type FaultHarness } from '../inject.ts';
import { planFaults, randomNumbers, type FaultKind, type PlannedFault } from '../plan.ts';
import { leaderProcess } from '../takeover.ts';
import { MOMENTS, VICTIMS, type Moment } from './evidence.ts';

/**
 * What is done at one moment: `afterMs` after it, each fault `gapMs` after the one before, then nothing for
 * `restMs`.
 */
export type PlannedKill = { faults: PlannedFault[]; afterMs: number; gapMs: number; restMs: number };

const KINDS = VICTIMS.map((victim): FaultKind => `kill-${victim}`);
/** More than fit into any run. */
const ROUNDS = 40;
const TWO_SHARE = 0.4;
/** A pod takes some seconds to start: kills come meanwhile. Others come at once. */
const AFTER_MS: Record<Moment, number> = { asleep: 400, woken: 4_000, accepted: 0, due: 0 };
const GAP_MS = 3_000;
const REST_MS = { least: 8_000, most: 16_000 };
/** At most so many kills more than another moment may one have had: the rare ones need their turn. */
const AHEAD = 1;

/** By moment, what is done there one after the other: each program once in three. */
export function planKills(seed: number): Record<Moment, PlannedKill[]> {
  const random = randomNumbers(seed);
  const plan = (number: number) => {
    const one = planFaults({ seed: seed + number, kinds: KINDS, perKind: ROUNDS });
    const two = planFaults({ seed: seed - number, kinds: KINDS, perKind: ROUNDS });
    return one.map((fault, index) => [fault, ...two.slice(index, index + 1)]);
  };
  const kills = MOMENTS.map((moment, index): [Moment, PlannedKill[]] => [
    moment,
    plan(index + 1).map((faults) => ({
      faults: random() < TWO_SHARE ? faults : faults.slice(0, 1),
      afterMs: random() * AFTER_MS[moment],
      gapMs: random() * GAP_MS,
      restMs: REST_MS.least + random() * (REST_MS.most - REST_MS.least),
    })),
  ]);
  return Object.fromEntries(kills) as Record<Moment, PlannedKill[]>;
}

export type Killer = {
  faults: FaultRecord[];
  /**
   * This moment has come for the project. Resolves after the first kill, or at once where none is planned.
   */
  reached(moment: Moment, project: string): Promise<void>;
  /** From then on it kills. */
  begin(): void;
  /** Resolves when nothing is killed any more. */
  end(): Promise<void>;
};

type KillerOptions = {
  harness: FaultHarness;
  connection: KubeConnection;
  seed: number;
  tell: (line: string) => void;
};

export function createKiller({ harness, connection, seed, tell }: KillerOptions): Killer {
  const plan = planKills(seed);
  const done: Record<Moment, number> = { asleep: 0, woken: 0, accepted: 0, due: 0 };
  const faults: FaultRecord[] = [];
  let isOpen = false;
  let freeAt = 0;
  let underWay: Promise<void> = Promise.resolve();

  /** Whether it was killed: it may not have come back since the last time. */
  const kill = async (
    planned: PlannedFault,
    moment: NonNullable<FaultRecord['moment']>,
  ): Promise<boolean> => {
    const begun = (target: string) => {
      const at = Date.now();
      const number = faults.length + 1;
      faults.push({ number, kind: planned.kind, target, at, endedAt: at, loadBefore: 0, moment });
      tell(`${moment.name} ${moment.project}: ${planned.kind} (${target})`);
    };
    try {
      if (planned.kind === 'kill-operator') {
        const pid = await leaderProcess(connection, harness);
        process.kill(pid, 'SIGKILL');
        begun(`leader ${pid}`);
      } else {
        await inject(harness, { ...planned, seconds: 0 }, begun);
      }
      return true;
    } catch (error) {
      tell(`${moment.name} ${moment.project}: ${planned.kind}: ${String(error)}`);
      return false;
    }
  };

  return {
    faults,
    reached: async (name, project) => {
      const [planned] = plan[name].slice(done[name], done[name] + 1);
      const isAhead = done[name] >= Math.min(...Object.values(done)) + AHEAD;
      if (!planned || !isOpen || isAhead || performance.now() < freeAt) return;
      freeAt = Infinity;
      const moment = { name, project, at: Date.now() };
      const [first, ...more] = planned.faults;
      const doFirst = async (): Promise<void> => {
        await delay(planned.afterMs);
        if (first && (await kill(first, moment))) done[name] += 1;
      };
      const isFirstDone = doFirst();
      underWay = (async () => {
        await isFirstDone;
        for (const each of more) {
          await delay(planned.gapMs);
          await kill(each, moment);
        }
        freeAt = performance.now() + planned.restMs;
      })();
      await isFirstDone;
    },
    begin: () => {
      isOpen = true;
    },
    end: async () => {
      isOpen = false;
      await underWay;
    },
  };
}
