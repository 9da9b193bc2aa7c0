/** Which faults come in which order: by a seed, evenly over the kinds, so that a bad run can be repeated. */
import { PROGRAMS, type Program } from '../support/process/processes.ts';

/** What is done to a program. Cuts are between it and the other one that is named. */
export type FaultKind =
  | `kill-${Program}`
  | `freeze-${Program}`
  | `delete-${PodProgram}`
  | `cut-${Client}-${Server}`
  | `half-open-${Client}-redis`
  | 'slow-redis';

export type PodProgram = Exclude<Program, 'kube-apiserver' | 'etcd'>;
export type Client = 'gateway' | 'operator' | 'runner';
type Server = 'redis' | 'apiserver';

const POD_PROGRAMS: readonly PodProgram[] = ['gateway', 'operator', 'runner', 'redis'];
const CLIENTS: readonly Client[] = ['gateway', 'operator', 'runner'];

export const KILLS = PROGRAMS.map((program): FaultKind => `kill-${program}`);
const FREEZES = PROGRAMS.map((program): FaultKind => `freeze-${program}`);
const DELETIONS = POD_PROGRAMS.map((program): FaultKind => `delete-${program}`);
const CUTS = CLIENTS.flatMap((client): FaultKind[] => [
  `cut-${client}-redis`,
  `cut-${client}-apiserver`,
  `half-open-${client}-redis`,
]).concat('slow-redis');

export const FAULT_KINDS: readonly FaultKind[] = [...KILLS, ...FREEZES, ...DELETIONS, ...CUTS];

/**
 * `seconds`: how long a frozen program, a cut or a killed program of the cluster stays away. `pick` chooses
 * among replicas.
 */
export type PlannedFault = { number: number; kind: FaultKind; seconds: number; pick: number };

export type PlanOptions = { seed: number; kinds: readonly FaultKind[]; perKind: number };

/**
 * Each kind so many times, shuffled round by round: no kind comes a third time before all have come twice.
 */
export function planFaults({ seed, kinds, perKind }: PlanOptions): PlannedFault[] {
  const random = randomNumbers(seed);
  const rounds = Array.from({ length: perKind }, () => shuffled(kinds, random));
  return rounds.flat().map((kind, index) => ({
    number: index + 1,
    kind,
    seconds: secondsOf(kind, random()),
    pick: random(),
  }));
}

/** The kinds that words such as `kill`, `redis` or `kill-redis` mean. Throws for a word that means none. */
export function kindsOf(words: readonly string[]): FaultKind[] {
  if (words.length === 0) return [...FAULT_KINDS];
  const chosen = words.flatMap((word) => {
    const found = FAULT_KINDS.filter((kind) => `-${kind}-`.includes(`-${word}-`));
    if (found.length === 0) throw new Error(`no fault is named "${word}": use ${FAULT_KINDS.join(', ')}`);
    return found;
  });
  return [...new Set(chosen)];
}

/**
 * Long enough that somebody notices; a killed part of the control plane is started again after a moment, as
 * by a kubelet.
 */
function secondsOf(kind: FaultKind, share: number): number {
  if (kind.startsWith('freeze')) return Math.round(5 + share * 25);
  if (kind.startsWith('kill')) return Math.round(1 + share * 4);
  return Math.round(5 + share * 15);
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const keyed = items.map((item) => [random(), item] as const);
  return keyed.toSorted(([a], [b]) => a - b).map(([, item]) => item);
}
