/** Which request of a provider's clients fails, and how: the counting that all proxies share. */
import type { ProviderProxy, Fault } from './provider.ts';

export type Faults = {
  /**
   * How the request that has come fails; undefined: it passes. `concerns`: whether it can fail so; left out:
   * in every way.
   */
  next(concerns?: (fault: Fault) => boolean): Fault | undefined;
  told: Pick<ProviderProxy, 'fail' | 'watch' | 'requests' | 'failed'>;
};

/** Nothing fails at first. */
export function createFaults(): Faults {
  let planned: { fault: Fault | undefined; first: number } = { fault: undefined, first: 0 };
  let passes: (() => boolean) | undefined;
  let requests = 0;
  let failed = 0;
  return {
    next: (concerns) => {
      requests += 1;
      if (passes && !passes()) return 'silence';
      const { fault, first } = planned;
      if (fault === undefined || requests <= first || concerns?.(fault) === false) return undefined;
      failed += 1;
      return fault;
    },
    told: {
      fail: (fault, first = 0) => {
        planned = { fault, first };
        [requests, failed] = [0, 0];
      },
      watch: (watcher) => {
        passes = watcher;
      },
      requests: () => requests,
      failed: () => failed,
    },
  };
}
