import { expect, test } from 'vitest';
import { cronProblem } from './cronProblem.ts';

test.each([
  ['99 * * * *', '"99" is not valid as minute: use 0 to 59'],
  ['0 24 * * *', '"24" is not valid as hour: use 0 to 23'],
  ['0 9 32 * *', '"32" is not valid as day of month: use 1 to 31'],
  ['0 9 1 13 *', '"13" is not valid as month: use 1 to 12 or JAN to DEC'],
  ['0 9 1 1 8', '"8" is not valid as day of week: use 0 to 6 or SUN to SAT'],
  ['0 9 * *', 'Enter five fields'],
  ['0 0 9 * * *', 'Enter five fields'],
])('of %s it is told what is wrong', (cron, message) => {
  expect(cronProblem(cron)).toContain(message);
});

test.each(['*/15 * * * *', '0 9 * * mon-FRI', '0  9 1 1,7 *'])('%s has no problem', (cron) => {
  expect(cronProblem(cron)).toBeUndefined();
});
