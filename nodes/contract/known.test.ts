import { expect, test } from 'vitest';
import { Known, KnownList, MOST_FILES } from './known.ts';
import { decodeState, encodeState } from '../triggers/files/state.ts';

const list = (...files: [string, string][]) => {
  const made = new KnownList();
  for (const [id, version] of files) made.push(id, version);
  return made.known();
};

test('a file is found where it was put, with its version and no other', () => {
  const files = Array.from({ length: 5_000 }, (_, n): [string, string] => [`file ${n}`, `version ${n}`]);
  const known = list(...files);
  expect(files.every(([id], n) => known.indexOf(id) === n)).toBe(true);
  expect(known.hasVersion(4_321, 'version 4321')).toBe(true);
  expect(known.hasVersion(4_321, 'version 4322')).toBe(false);
  expect(known.indexOf('file 5000')).toBe(-1);
  expect(new Known().indexOf('file 0')).toBe(-1);
});

test('a part of what was known is taken over as it was', () => {
  const next = new KnownList();
  next.push('new', '1');
  next.take(list(['a', '1'], ['b', '1'], ['c', '1']), 1);
  const known = next.known();
  expect(['new', 'a', 'b', 'c'].map((id) => known.indexOf(id))).toEqual([0, -1, 1, 2]);
});

test('the largest number of known files takes 7 MB, and one more is too many', () => {
  const most = new KnownList();
  most.take(new Known(Buffer.alloc(16 * (MOST_FILES - 1))), 0);
  most.push('last', '1');
  expect(encodeState({ known: most.known(), waiting: [] }).length).toBeLessThan(7_000_000);
  expect(() => most.push('one more', '1')).toThrow(expect.objectContaining({ reason: 'TooLarge' }));
});

test('what is remembered comes back, and what is not of this form is nothing', () => {
  const file = {
    id: 'a',
    version: '1',
    name: 'a',
    mimeType: null,
    size: 1,
    modified: '2026-01-01T00:00:00.000Z',
    folder: '',
    url: null,
  };
  const bytes = encodeState({ known: list(['a', '1']), waiting: [{ event: 'added', file }] });
  const memory = decodeState(bytes);
  expect(memory?.waiting).toEqual([{ event: 'added', file }]);
  expect(memory?.known.indexOf('a')).toBe(0);
  const other = Buffer.from(bytes);
  other.writeUInt32LE(9);
  for (const broken of [undefined, Buffer.alloc(3), bytes.subarray(0, bytes.length - 1), other])
    expect(decodeState(broken)).toBeUndefined();
});
