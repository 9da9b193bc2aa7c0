import { expect, test } from 'vitest';
import { demandAfter, type Demand, type Reading } from './need.ts';

const options = { min: 1, max: 8, targetBacklogSeconds: 30, concurrency: 50 };

/** Readings in seconds; left out: nothing waits, nothing is executed, one runner. */
type Given = Partial<Reading> & { seconds: number; oldestSeconds?: number };

function after(given: readonly Given[], changed: Partial<typeof options> = {}): Demand | undefined {
  return given.reduce<Demand | undefined>((before, { seconds, oldestSeconds, ...reading }) => {
    const oldestMs = (oldestSeconds ?? seconds) * 1_000;
    const whole = { ready: 0, claimed: 0, ended: 0, runners: 1, ...reading, at: seconds * 1_000, oldestMs };
    return demandAfter(before, whole, { ...options, ...changed });
  }, undefined);
}

test.each<[what: string, given: Given[], needed: number | undefined]>([
  ['an idle project needs the least', [{ seconds: 0, runners: 5 }], 1],
  ['one reading says nothing about a backlog', [{ seconds: 0, ready: 10_000, claimed: 50 }], undefined],
  [
    'a backlog that its runner takes early enough needs no other one',
    [
      { seconds: 0, ready: 10_000, claimed: 50 },
      { seconds: 5, ready: 5_000, claimed: 50, ended: 5_000 },
    ],
    1,
  ],
  [
    'a backlog of 10,000 runs at 50 a second needs five at once: one step adds four',
    [
      { seconds: 0, ready: 10_000, claimed: 50 },
      { seconds: 5, ready: 9_750, claimed: 50, ended: 250 },
    ],
    5,
  ],
  [
    'from four runners on a step doubles them, up to the most',
    [
      { seconds: 0, ready: 10_000, claimed: 200, runners: 6 },
      { seconds: 5, ready: 9_950, claimed: 200, ended: 50, runners: 6 },
    ],
    8,
  ],
  [
    'a backlog of which nothing ends needs more',
    [
      { seconds: 0, ready: 10_000, claimed: 50 },
      { seconds: 5, ready: 10_000, claimed: 50 },
    ],
    5,
  ],
  [
    'what arrives is counted beside the backlog',
    [
      { seconds: 0, ready: 1_000, claimed: 50, runners: 4 },
      { seconds: 10, ready: 2_000, claimed: 50, ended: 500, runners: 4 },
    ],
    // 150 a second arrive, and 67 of the backlog: 12.5 a second for each runner.
    8,
  ],
  [
    'runs that wait for another thing once they were taken count as taken',
    [
      { seconds: 0, ready: 10_000, claimed: 50 },
      { seconds: 5, ready: 6_000, claimed: 50 },
    ],
    1,
  ],
  [
    'one ready run, which waits for a moment, needs no runner',
    [
      { seconds: 0, ready: 1, claimed: 3 },
      { seconds: 5, ready: 1, claimed: 3 },
    ],
    1,
  ],
  [
    'one ready run that nobody takes for longer than the target needs a runner',
    [
      { seconds: 0, ready: 1, claimed: 50 },
      { seconds: 20, ready: 1, claimed: 50 },
      { seconds: 35, ready: 1, claimed: 50 },
    ],
    2,
  ],
  [
    'a short backlog that is old needs a runner',
    [
      { seconds: 0, ready: 100, claimed: 50 },
      { seconds: 40, ready: 100, claimed: 50, ended: 200 },
    ],
    2,
  ],
  [
    'a short backlog of runs that were accepted long ago is not old',
    [
      { seconds: 0, ready: 100, claimed: 50, oldestSeconds: 90_000 },
      { seconds: 10, ready: 100, claimed: 50, ended: 50, oldestSeconds: 90_010 },
    ],
    1,
  ],
  [
    'runners that executed much keep as many as their runs fill',
    [
      { seconds: 0, claimed: 150, runners: 4 },
      { seconds: 5, claimed: 150, runners: 4 },
    ],
    4,
  ],
  [
    'without a backlog there are never more',
    [
      { seconds: 0, claimed: 200, runners: 3 },
      { seconds: 5, claimed: 200, runners: 3 },
    ],
    3,
  ],
  [
    'runners with little to do are not needed',
    [
      { seconds: 0, claimed: 4, runners: 4 },
      { seconds: 5, claimed: 5, ended: 10, runners: 4 },
    ],
    1,
  ],
  [
    'the throughput that was measured with a backlog says how many can do it without one',
    [
      { seconds: 0, ready: 10_000, runners: 2 },
      { seconds: 5, ready: 10_000, ended: 1_000, runners: 2 },
      { seconds: 10, claimed: 10, ended: 20_000, runners: 4 },
      { seconds: 15, claimed: 10, ended: 21_000, runners: 4 },
    ],
    // 200 a second, of 100 for each runner.
    3,
  ],
  [
    'without a runner nothing is measured, and the need stays',
    [
      { seconds: 0, claimed: 1 },
      { seconds: 5, claimed: 1, runners: 0 },
    ],
    undefined,
  ],
  [
    'runners that became ready meanwhile are measured again, and the need stays',
    [
      { seconds: 0, ready: 10_000, claimed: 50 },
      { seconds: 5, ready: 9_750, claimed: 50, ended: 250 },
      { seconds: 10, ready: 9_500, claimed: 250, ended: 500, runners: 5 },
    ],
    5,
  ],
  [
    'totals that a deleted workflow took along are measured again, and the need stays',
    [
      { seconds: 0, ready: 10_000, claimed: 50, ended: 900 },
      { seconds: 5, ready: 9_750, claimed: 50, ended: 1_150 },
      { seconds: 10, ready: 9_500, claimed: 50, ended: 10 },
    ],
    5,
  ],
])('%s', (_what, given, needed) => {
  expect(after(given)?.needed).toBe(needed);
});

test('the need is never outside of the bounds', () => {
  const behind = [
    { seconds: 0, ready: 10_000, claimed: 50 },
    { seconds: 5, ready: 10_000, claimed: 50 },
  ];
  expect(after(behind, { max: 3 })?.needed).toBe(3);
  expect(after([{ seconds: 0 }], { min: 2 })?.needed).toBe(2);
});

test('readings of more than a minute ago do not count', () => {
  const steady = Array.from({ length: 20 }, (_, index) => ({ seconds: index * 5, ready: 1, claimed: 1 }));
  expect(after(steady)?.readings).toHaveLength(13);
});
