import { expect, test, vi } from 'vitest';
import { batchChanges } from './batch.ts';

test('changes that come together are made as one, in their order', () => {
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

test('what is dropped is not made, and later changes are', () => {
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
