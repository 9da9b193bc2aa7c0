import { expect, test } from 'vitest';
import { freeSlots } from './slots.ts';

test.for([
  ['an idle runner has all', { inFlight: 0, ending: 0 }, 50],
  ['a run that is executed takes one', { inFlight: 20, ending: 0 }, 30],
  ['a run whose end is being stored takes none', { inFlight: 20, ending: 15 }, 45],
  ['all are free where all ends are being stored', { inFlight: 50, ending: 50 }, 50],
  ['no more than the concurrency may be ending', { inFlight: 100, ending: 100 }, 0],
  ['a run that could not end with others takes one again', { inFlight: 51, ending: 0 }, -1],
] as const)('of the slots of a runner %s', ([, { inFlight, ending }, expected]) => {
  expect(freeSlots({ concurrency: 50, inFlight, ending })).toBe(expected);
});
