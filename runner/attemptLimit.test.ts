import { expect, test } from 'vitest';
import { AttemptLimit } from './attemptLimit.ts';

/** Takes as many attempts as the run gets. */
function takeAll(share: { take(): boolean }): number {
  let taken = 0;
  while (taken < 1_000 && share.take()) taken += 1;
  return taken;
}

test('a run may have one attempt, and further ones up to the limit', () => {
  expect(takeAll(new AttemptLimit(3).share(() => undefined))).toBe(4);
});

test('a run always gets its first attempt, also while another uses up the limit', () => {
  const limit = new AttemptLimit(3);
  takeAll(limit.share(() => undefined));
  expect(takeAll(limit.share(() => undefined))).toBe(1);
});

test('while the limit is used up, runs get attempts one after the other', () => {
  const limit = new AttemptLimit(2);
  const started: string[] = [];
  const shareOf = (name: string) => {
    const share = limit.share(() => {
      if (share.take()) started.push(name);
      share.take();
    });
    return share;
  };
  const [a, b] = [shareOf('a'), shareOf('b')];
  takeAll(a);
  takeAll(b);
  for (let index = 0; index < 4; index += 1) a.release();
  expect(started).toEqual(['a', 'b', 'a', 'b']);
});

test('an attempt that a run was granted and does not need goes to the next run', () => {
  const limit = new AttemptLimit(1);
  let woken = 0;
  const [a, b, c] = [
    limit.share(() => undefined),
    limit.share(() => undefined),
    limit.share(() => (woken += 1)),
  ];
  for (const share of [a, b, c]) takeAll(share);
  a.release();
  a.returnUnused();
  expect(woken).toBe(0);
  b.returnUnused();
  expect(woken).toBe(1);
  expect(c.take()).toBe(true);
});

test('a run that has ended returns all, and is not woken any more', () => {
  const limit = new AttemptLimit(2);
  let woken = 0;
  const a = limit.share(() => undefined);
  const b = limit.share(() => (woken += 1));
  takeAll(a);
  takeAll(b);
  b.close();
  a.close();
  expect(woken).toBe(0);
  expect(takeAll(limit.share(() => undefined))).toBe(3);
});
