import { expect, test } from 'vitest';
import { createProgress, stepFailure } from '../../support/process/progress.ts';

function collect(isTTY: boolean): { written: () => string; progress: ReturnType<typeof createProgress> } {
  let text = '';
  return { written: () => text, progress: createProgress({ isTTY, write: (more) => (text += more) }) };
}

test('a step that ends well gives its result and a line', async () => {
  const { written, progress } = collect(false);
  expect(await progress.step('count', async () => 3)).toBe(3);
  expect(written()).toBe('✓ count\n');
});

test('a step that fails says so, and its error goes on', async () => {
  const { written, progress } = collect(false);
  const failing = progress.step('count', async () => {
    throw new Error('lost count');
  });
  await expect(failing).rejects.toThrow('lost count');
  expect(written()).toBe('✗ count\n');
});

test('a line that is said while a step runs does not end up behind the changing line of a terminal', async () => {
  const { written, progress } = collect(true);
  await progress.step('count', async () => progress.say('one'));
  expect(written()).toContain('\r\u001b[2Kone\n');
});

test('a failure says what failed, why, where the log is and what to do', () => {
  const failure = stepFailure('the build failed', {
    cause: new Error('disk full'),
    log: '/x.log',
    remedy: 'make room',
  });
  expect(failure.message).toBe('the build failed: disk full\n  log: /x.log\n  what to do: make room');
});
