import { expect, test } from 'vitest';
import { leastRunners, mayHaveSeveral, scalingOf } from './scaling.ts';

type Spec = Parameters<typeof scalingOf>[0]['RUNNER_AUTOSCALING'];

test.each<[what: string, spec: Spec, scaling: object, least: number | undefined, several: boolean]>([
  ['fixed', undefined, { engine: 'Fixed', replicas: 1 }, undefined, false],
  [
    'of the backlog',
    { engine: 'Builtin', max: 3 },
    { engine: 'Builtin', min: 1, max: 3, targetBacklogSeconds: 30 },
    1,
    true,
  ],
  [
    'of KEDA, and always one',
    { engine: 'KEDA', min: 1, max: 1, targetBacklogSeconds: 60 },
    { engine: 'KEDA', min: 1, max: 1, targetBacklogSeconds: 60 },
    1,
    false,
  ],
  ['of others', { engine: 'External' }, { engine: 'External' }, 1, true],
])('the number of runners is %s', (_what, RUNNER_AUTOSCALING, scaling, least, several) => {
  const found = scalingOf({ RUNNER_REPLICAS: 1, RUNNER_AUTOSCALING });
  expect(found).toEqual(scaling);
  expect([leastRunners(found), mayHaveSeveral(found)]).toEqual([least, several]);
});
