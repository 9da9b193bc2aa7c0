import { expect, test } from 'vitest';
import { durabilityIn } from './durability.ts';

const METRIC = 'windlass_operator_run_store_durability_problem';

test.each([
  ['an operator that does not lead', '# TYPE other gauge\nother 1\n', undefined],
  ['no problem', `${METRIC}{problem="EvictsKeys"} 0\n${METRIC}{problem="LogNotWritable"} 0\n`, []],
  [
    'one problem',
    `${METRIC}{problem="EvictsKeys"} 1\n${METRIC}{problem="LogNotWritable"} 0\n`,
    ['EvictsKeys'],
  ],
])('the metrics of %s name %s', (_what, metrics, problems) => {
  expect(durabilityIn(metrics)).toEqual(problems);
});
