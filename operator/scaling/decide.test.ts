import { expect, test } from 'vitest';
import { decideReplicas, noDecisions, type Situation } from './decide.ts';

const bounds = { min: 1, max: 8, targetBacklogSeconds: 30 };

/** Every five seconds until `seconds`; `replicas` of each decision are available at the next one. */
function decideUntil(
  seconds: number,
  neededAt: (second: number) => number | undefined,
  start: number,
): { second: number; replicas: number }[] {
  let decisions = noDecisions(0);
  let current = start;
  const changes: { second: number; replicas: number }[] = [];
  for (let second = 0; second <= seconds; second += 5) {
    const situation = { now: second * 1_000, needed: neededAt(second), current, available: current };
    const decided = decideReplicas(decisions, situation, bounds);
    decisions = decided.decisions;
    if (decided.replicas !== current) changes.push({ second, replicas: decided.replicas });
    current = decided.replicas;
  }
  return changes;
}

test('runners that are needed come at once', () => {
  expect(decideUntil(10, (second) => (second < 5 ? 1 : 5), 1)).toEqual([{ second: 5, replicas: 5 }]);
});

test('runners that are not needed go after five minutes, a quarter each minute', () => {
  expect(decideUntil(900, () => 1, 8)).toEqual([
    { second: 300, replicas: 6 },
    { second: 360, replicas: 5 },
    { second: 420, replicas: 4 },
    { second: 480, replicas: 3 },
    { second: 540, replicas: 2 },
    { second: 600, replicas: 1 },
  ]);
});

test('as many runners stay as were needed at any time of the last five minutes', () => {
  const changes = decideUntil(700, (second) => (second === 200 ? 3 : 1), 4);
  expect(changes).toEqual([
    { second: 300, replicas: 3 },
    { second: 500, replicas: 2 },
    { second: 560, replicas: 1 },
  ]);
});

test('a backlog that comes and goes moves the runners up once', () => {
  const waves = (second: number): number => (second % 120 < 20 ? 4 : 1);
  expect(decideUntil(1_200, waves, 1)).toEqual([{ second: 0, replicas: 4 }]);
});

test.each<[what: string, situation: Partial<Situation>, replicas: number]>([
  ['an unknown need changes nothing', { needed: undefined, current: 4 }, 4],
  ['an unknown need takes a pool into its bounds', { needed: undefined, current: 20 }, 8],
  ['a pool below its bounds comes into them', { needed: 1, current: 0 }, 1],
  ['a need beyond the bounds gives the most', { needed: 30, current: 4, available: 4 }, 8],
  ['while runners start there are no further ones', { needed: 8, current: 4, available: 3 }, 4],
])('%s', (_what, situation, replicas) => {
  const whole = { now: 0, needed: 1, current: 1, available: 1, ...situation };
  expect(decideReplicas(noDecisions(0), whole, bounds).replicas).toBe(replicas);
});
