import { expect, test } from 'vitest';
import { Known } from '../contract/known.ts';
import { walk, type Place } from './walk.ts';

const file = (text: string) => {
  const [id = '', version = '1'] = text.split(':');
  const modified = '2026-01-01T00:00:00.000Z';
  return { id, version, name: id, mimeType: null, size: null, modified, folder: null, url: null };
};

/** Goes through the files from there, each as `id:version`, the time of all of which is 1,000. */
function go(
  known: Known,
  files: string,
  { isWhole = true, ...from }: Partial<Place> & { isWhole?: boolean } = {},
) {
  const walked = walk({ at: 0, ...from }, { known });
  for (const each of files.split(' ')) walked.pass(file(each), 1_000);
  const { known: now, at } = walked.end(isWhole);
  const told = walked.changes.map(({ event, file: { id } }) => `${event} ${id}`).join(', ');
  return { told, now, at, known: now ?? known };
}

const knownOf = (files: string) => go(new Known(), files, { since: 0 }).known;
const has = (known: Known, files: string) =>
  known.count === files.split(' ').length &&
  files.split(' ').every((each) => {
    const { id, version } = file(each);
    const index = known.indexOf(id);
    return index >= 0 && known.hasVersion(index, version);
  });

test.each<[string, string, string, string]>([
  ['a file that is other', 'a b c', 'a:2 b c', 'modified a'],
  ['a file that is new', 'a b c', 'a b c d', 'added d'],
  ['a file that is gone, the first', 'a b c', 'b c', ''],
  ['a file that is gone, the last', 'a b c', 'a b', ''],
  ['another order', 'a b c', 'c a b', ''],
  ['a file that is listed twice', 'a b c', 'a a b c a', ''],
])('%s', (_what, before, listed, told) => {
  const found = go(knownOf(before), listed);
  expect(found.told).toBe(told);
  expect(has(found.known, [...new Set(listed.split(' '))].join(' '))).toBe(true);
});

test('where everything is as it was there is nothing to remember', () => {
  const known = knownOf('a b c');
  expect(go(known, 'a b c')).toMatchObject({ now: undefined, at: 3 });
  expect(go(known, 'a b', { isWhole: false })).toMatchObject({ now: undefined, at: 2 });
});

test('a walk may take several polls, in any order: what it has not come to stays known, and what it never comes to is gone', () => {
  const first = go(knownOf('a b c d e'), 'e new b:2', { isWhole: false });
  expect(first).toMatchObject({ told: 'added new, modified b', at: 3 });
  expect(has(first.known, 'a b:2 c d e new')).toBe(true);
  const second = go(first.known, 'b:2 d', { isWhole: false, at: first.at });
  expect(second).toMatchObject({ told: '', at: 4 });
  const third = go(second.known, 'a', { at: second.at });
  expect(third.told).toBe('');
  expect(has(third.known, 'a b:2 d e new')).toBe(true);
});

test.each([
  [0, ''],
  [999, 'added a'],
  [1_000, 'added a'],
  [1_001, ''],
])('while a trigger begins that is to see what came since %i, only that is new', (since, told) => {
  const found = go(new Known(), 'a', { since });
  expect(found.told).toBe(told);
  expect(has(found.known, 'a')).toBe(true);
});
