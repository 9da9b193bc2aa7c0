/** The scenes of a storm, and the figures about each of its faults. */
import { expect, test } from 'vitest';
import type { Attempt, FaultRecord, SentEvent } from '../../faults/evidence.ts';
import { figuresOf, leastSentPerSecond } from '../../faults/storm/figures.ts';
import { CHOSEN, KINDS, needsShim, scenesOf, type Scene } from '../../faults/storm/scenes.ts';

function first(count: number, seed: number): Scene[] {
  const scenes = scenesOf(seed);
  return Array.from({ length: count }, () => scenes.next().value as Scene);
}

test('the same seed gives the same scenes, another seed others', () => {
  expect(first(20, 7)).toEqual(first(20, 7));
  expect(first(20, 7)).not.toEqual(first(20, 8));
});

test('each scene has two or three faults of different kinds, and all kinds come', () => {
  const scenes = first(400, 1);
  for (const { faults } of scenes) {
    expect([2, 3]).toContain(faults.length);
    expect(new Set(faults.map(({ kind }) => kind)).size).toBe(faults.length);
  }
  expect(new Set(scenes.flatMap(({ faults }) => faults.map(({ kind }) => kind)))).toEqual(new Set(KINDS));
});

test('faults of a chosen scene overlap, or one follows at once where the other ends', () => {
  for (const { faults } of CHOSEN) {
    for (const { after } of faults.filter((fault) => fault.after > 0)) {
      const others = faults.filter((other) => other.after < after);
      expect(others.some((other) => other.after + other.seconds >= after || other.seconds === 0)).toBe(true);
    }
  }
});

test('wrong clocks and slow fsync are the faults that need a compiler', () => {
  const kinds = KINDS.filter((kind) => needsShim({ kind, after: 0, seconds: 1, pick: 0 }));
  expect(kinds).toEqual(KINDS.filter((kind) => /^clock-|fsync/.test(kind)));
  expect(kinds).toHaveLength(9);
});

const sent = (number: number, ...attempts: Partial<Attempt>[]): SentEvent => ({
  id: `ev-a-${number}`,
  workflow: 'mail',
  attempts: attempts.map((each) => ({ at: 0, ms: 10, connection: 'new', ...each })),
});
const fault: FaultRecord = {
  number: 1,
  kind: 'kill-redis',
  target: 'redis',
  at: 10_000,
  endedAt: 13_000,
  loadBefore: 50,
};

test('of a fault is told what came while it lasted, how that was answered, and for how long nothing was accepted', () => {
  const events = [
    sent(1, { at: 9_500, status: 200 }),
    sent(2, { at: 10_500, status: 503 }, { at: 12_000, error: 'ECONNRESET' }, { at: 14_490, status: 200 }),
    sent(3, { at: 12_500, status: 503 }, { at: 15_000, status: 200 }),
    sent(4, { at: 16_000, status: 200 }),
    { ...sent(5, { at: 11_000, status: 422 }), refusal: 422 },
  ];
  expect(figuresOf([fault], events)).toEqual([
    { came: 2, accepted: 0, refused: 2, unanswered: 1, longestPauseSeconds: 4.99 },
  ]);
});

test('the load is told by the second in which the fewest events were sent', () => {
  const events = [10_100, 10_200, 11_500, 12_100, 12_999].map((at, index) => sent(index, { at }));
  expect(leastSentPerSecond([fault], events)).toBe(1);
  expect(leastSentPerSecond([fault], events.slice(0, 3))).toBe(0);
});
