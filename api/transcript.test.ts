import { expect, test } from 'vitest';
import { cutTranscript, headLength, progressOfTranscript, type TranscriptEntry } from './transcript.ts';

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
  const head = headLength({ entries });
  expect([entries[head - 1], entries[head]]).toEqual([all[head - 1], all[head + omitted]]);
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

test('a transcript that was cut twice lacks one stretch, which follows its head', () => {
  for (let limit = 200; limit < 1_600; limit += 37) {
    const all = Array.from({ length: 41 }, (_, index) => entry(`${index} ${'x'.repeat((index * 7) % 50)}`));
    const once = cutTranscript(all, 2 * limit);
    const { entries } = cutTranscript(once.entries, limit);
    const head = headLength({ entries });
    expect(entries.slice(0, head)).toEqual(all.slice(0, head));
    expect(entries.slice(head)).toEqual(all.slice(all.length - (entries.length - head)));
  }
});

test('how far an agent is: answers, tool calls and the tokens that are known', () => {
  const answer: TranscriptEntry = { role: 'Assistant', text: '', usage: { inputTokens: 3, outputTokens: 1 } };
  expect(progressOfTranscript([{ role: 'User', text: '' }, answer, entry('a'), answer])).toEqual({
    agent: { answers: 2, toolCalls: 1 },
    usage: { inputTokens: 6, outputTokens: 2 },
  });
  expect(progressOfTranscript([entry('a')])).toEqual({ agent: { answers: 0, toolCalls: 1 } });
});
