import { expect, test } from 'vitest';
import type { Deployment } from '../../kube/resource.ts';
import { poolStates } from './poolStates.ts';

const pool = (replicas: number | undefined, availableReplicas?: number): Deployment =>
  ({ spec: { replicas }, status: { availableReplicas } }) as unknown as Deployment;

test.each([
  { given: 'a runner', pools: [pool(1, 1)], counts: { ready: 1, starting: 0, asleep: 0 } },
  { given: 'some of its runners', pools: [pool(3, 1)], counts: { ready: 1, starting: 0, asleep: 0 } },
  { given: 'no runner yet', pools: [pool(1)], counts: { ready: 0, starting: 1, asleep: 0 } },
  {
    given: 'a number that another program sets',
    pools: [pool(undefined, 2)],
    counts: { ready: 1, starting: 0, asleep: 0 },
  },
  { given: 'no replicas', pools: [pool(0)], counts: { ready: 0, starting: 0, asleep: 1 } },
  {
    given: 'a runner that is about to end',
    pools: [pool(0, 1)],
    counts: { ready: 0, starting: 0, asleep: 1 },
  },
  {
    given: 'different states',
    pools: [pool(0), pool(1), pool(1, 1), pool(0)],
    counts: { ready: 1, starting: 1, asleep: 2 },
  },
])('pools with $given are counted', ({ pools, counts }) => {
  expect(poolStates(pools)).toEqual(counts);
});
