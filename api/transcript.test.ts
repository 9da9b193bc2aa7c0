import { expect, test } from 'vitest';
import { cutTranscript, type TranscriptEntry } from './transcript.ts';

const entry = (text: string): TranscriptEntry => ({ role: 'Tool', tool: 't', arguments: '{}', text });
const bytesOf = (entries: readonly TranscriptEntry[]) =>
  entries.reduce((sum, each) => sum + Buffer.byteLength(JSON.stringify(each)) + 1, 0);

test('a transcript that fits stays as it is', () => {
  const entries = [entry('a'.repeat(5_000)), entry('b')];
  expect(cutTranscript(entries, 32_768)).toEqual({ entries, omitted: 0 });
});

test('texts are shortened before entries are left out', () => {
  const { entries, omitted } = cutTranscript([entry('a'.repeat(40_000)), entry('b')], 32_768);
  expect(omitted).toBe(0);
  expect(entries[0]?.text).toBe(`${'a'.repeat(4_096)}… [cut]`);
  expect(entries[1]).toEqual(entry('b'));
});

test('whole entries of the middle are left out, and counted', () => {
  const all = Array.from({ length: 40 }, (_, index) => entry(`${index} ${'x'.repeat(2_000)}`));
  const { entries, omitted } = cutTranscript(all, 32_768);
  expect(bytesOf(entries)).toBeLessThanOrEqual(32_768);
  expect(entries.length + omitted).toBe(40);
  expect(entries[0]).toEqual(all[0]);
  expect(entries.at(-1)).toEqual(all.at(-1));
  expect(entries.length).toBeGreaterThan(12);
});

test('very many short entries are left out too', () => {
  const { entries, omitted } = cutTranscript(
    Array.from({ length: 1_000 }, (_, index) => ({ role: 'User', text: `${index}` })),
    1_000_000,
  );
  expect([entries.length, omitted]).toEqual([400, 600]);
});

test('without room nothing is left', () => {
  expect(cutTranscript([entry('a')], 0)).toEqual({ entries: [], omitted: 1 });
});
