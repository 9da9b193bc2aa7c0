import { expect, test } from 'vitest';
import { clearTab, readTab, writeTab } from './tabStore.ts';

/** As browsers have it. `most`: in characters, for all values together. */
function storageOf(most = Infinity): Storage {
  const values = new Map<string, string>();
  return {
    get length() {
      return values.size;
    },
    key: (index) => [...values.keys()][index] ?? null,
    getItem: (name) => values.get(name) ?? null,
    setItem: (name, value) => {
      if (value.length > most) throw new DOMException('full', 'QuotaExceededError');
      values.set(name, value);
    },
    removeItem: (name) => void values.delete(name),
    clear: () => values.clear(),
  };
}

const key = { user: 'ada', namespace: 'shop', workflow: 'orders', what: 'texts' };

test('a value is kept for its user, workflow and purpose', () => {
  const storage = storageOf();
  writeTab(key, { a: [1] }, storage);
  expect(readTab(key, storage)).toEqual({ a: [1] });
  for (const other of [{ user: 'grace' }, { namespace: 'x' }, { workflow: 'x' }, { what: 'event' }])
    expect(readTab({ ...key, ...other }, storage)).toBeUndefined();
  writeTab(key, undefined, storage);
  expect(storage.length).toBe(0);
});

test.each([
  ['is too long', 'x'.repeat(300_000), storageOf()],
  ['the browser has no room for', 'x'.repeat(100), storageOf(50)],
])('a value that %s is not kept, and not the one before it either', (_what, value, storage) => {
  writeTab(key, 'before', storage);
  writeTab(key, value, storage);
  expect(readTab(key, storage)).toBeUndefined();
});

test('what a tab remembers is forgotten, and nothing of other code', () => {
  const storage = storageOf();
  storage.setItem('other', 'stays');
  writeTab(key, 1, storage);
  writeTab({ ...key, workflow: 'bills' }, 2, storage);
  clearTab(storage);
  expect(storage.key(0)).toBe('other');
  expect(storage.length).toBe(1);
});
