/** Sees to it that a project whose provider does not answer holds up no other: of each project a few at the same time. */
import { WaitingError } from '../../kube/controller.ts';

const MOST_OF_PROJECT = 4;
const AGAIN_MS = 250;

/** Does the work, or throws a WaitingError before it has begun. */
export type InTurn = <T>(namespace: string, work: () => Promise<T>) => Promise<T>;

export function createTurns(): InTurn {
  const underWay = new Map<string, number>();
  return async (namespace, work) => {
    const count = underWay.get(namespace) ?? 0;
    if (count >= MOST_OF_PROJECT) throw new WaitingError('others of the project have their turn', AGAIN_MS);
    underWay.set(namespace, count + 1);
    try {
      return await work();
    } finally {
      const left = (underWay.get(namespace) ?? 1) - 1;
      if (left > 0) underWay.set(namespace, left);
      else underWay.delete(namespace);
    }
  };
}
