import { expect, test, vi } from 'vitest';
import { batchChanges } from './batch.ts';

test('changes within the batch time are applied together, in order', () => {
  vi.useFakeTimers();
  try {
    const made: string[] = [];
    let value = '';
    const changes = batchChanges<string>((change) => made.push((value = change(value))));
    for (const letter of 'abc') changes.add((before) => before + letter);
    expect(made).toEqual([]);
    vi.runAllTimers();
    changes.add((before) => `${before}d`);
    vi.runAllTimers();
    expect(made).toEqual(['abc', 'abcd']);
  } finally {
    vi.useRealTimers();
  }
});

test('discarded changes are not applied, and later ones are', () => {
  vi.useFakeTimers();
  try {
    const made: string[] = [];
    const changes = batchChanges<string>((change) => made.push(change('')));
    changes.add((before) => `${before}old`);
    changes.drop();
    changes.add((before) => `${before}new`);
    vi.runAllTimers();
    expect(made).toEqual(['new']);
  } finally {
    vi.useRealTimers();
  }
});
