/** Sees to it that a project whose provider does not answer holds up no other: of each project a few at the same time. */
import { WaitingError } from '../../kube/controller.ts';

const MOST_OF_PROJECT = 4;
const AGAIN_MS = 250;
/** So much longer for each that was sent away before: however many wait, some 200 come again in a second. */
const APART_MS = 5;
const LONGEST_MS = 15_000;

/** Does the work, or throws a WaitingError before it has begun. */
export type InTurn = <T>(namespace: string, work: () => Promise<T>) => Promise<T>;

/** Of a project: how many are at work, and how many were sent away since the last one began. */
type Turns = { working: number; sentAway: number };

export function createProjectSemaphore(): InTurn {
  const underWay = new Map<string, Turns>();
  return async (namespace, work) => {
    const turns = underWay.get(namespace) ?? { working: 0, sentAway: 0 };
    if (turns.working >= MOST_OF_PROJECT) {
      turns.sentAway += 1;
      const againMs = Math.min(AGAIN_MS + turns.sentAway * APART_MS, LONGEST_MS);
      throw new WaitingError('others of the project have their turn', againMs);
    }
    underWay.set(namespace, turns);
    turns.working += 1;
    turns.sentAway = 0;
    try {
      return await work();
    } finally {
      turns.working -= 1;
      if (turns.working === 0) underWay.delete(namespace);
    }
  };
}
