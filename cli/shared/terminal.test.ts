import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createTerminal } from './terminal.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function written(isTTY: boolean, pauseMs = 1_000): string[] {
  const texts: string[] = [];
  const stream = { isTTY, write: (text: string) => texts.push(text) };
  const streams = { stdin: (async function* () {})(), stdout: stream, stderr: stream };
  const terminal = createTerminal(streams, { admitsColour: false });
  terminal.progress('soon');
  vi.advanceTimersByTime(pauseMs);
  terminal.progress('10 of 20');
  vi.advanceTimersByTime(pauseMs);
  terminal.progress('done');
  terminal.print('result');
  terminal.print('more');
  return texts;
}

test('progress of long work is written over, and the result replaces it', () => {
  expect(written(true)).toEqual(['\r10 of 20', '\rdone    ', '\r    \r', 'result\n', 'more\n']);
});

test('where no terminal is, progress is a line every 30 s', () => {
  expect(written(false)).toEqual(['result\n', 'more\n']);
  expect(written(false, 30_000)).toEqual(['10 of 20\n', 'done\n', 'result\n', 'more\n']);
});
