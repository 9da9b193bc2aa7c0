/**
 * Limits the concurrent requests per project, so that a provider that does not respond delays no other
 * project.
 */
import { WaitingError } from '../../kube/controller.ts';

const MOST_OF_PROJECT = 4;
const AGAIN_MS = 250;
/** Each rejected request adds this to the delay, so that about 200 retry per second however many wait. */
const APART_MS = 5;
const LONGEST_MS = 15_000;

/** Does the work, or throws a WaitingError before it begins. */
export type ProjectSemaphore = <T>(namespace: string, work: () => Promise<T>) => Promise<T>;

/** Of a project: requests in progress, and requests rejected since the last one began. */
type Permits = { inProgress: number; rejected: number };

export function createProjectSemaphore(): ProjectSemaphore {
  const underWay = new Map<string, Permits>();
  return async (namespace, work) => {
    const permits = underWay.get(namespace) ?? { inProgress: 0, rejected: 0 };
    if (permits.inProgress >= MOST_OF_PROJECT) {
      permits.rejected += 1;
      const againMs = Math.min(AGAIN_MS + permits.rejected * APART_MS, LONGEST_MS);
      throw new WaitingError('too many concurrent requests of the project', againMs);
    }
    underWay.set(namespace, permits);
    permits.inProgress += 1;
    permits.rejected = 0;
    try {
      return await work();
    } finally {
      permits.inProgress -= 1;
      if (permits.inProgress === 0) underWay.delete(namespace);
    }
  };
}
