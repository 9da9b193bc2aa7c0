/** The threads of the sandbox: their starts, their ends, and executions that end with their thread. */
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { codeRequest, never, startSandbox } from '../../test/support/nodes/codeSandbox.ts';
import { createSandbox } from './sandbox.ts';

const { sandbox, valueOf } = startSandbox();

test('code that the interrupt handler cannot stop ends with its thread', async () => {
  const alone = createSandbox({ threads: 1, graceMs: 100 });
  try {
    // An extension is asked for work that takes minutes, without an instruction of the engine between.
    const source = 'const text = "http://a/" + "x".repeat(4e6); for (;;) new URL(text);';
    const started = performance.now();
    const outcome = await alone.execute(codeRequest(source, { timeoutMs: 200 }), never);
    expect(outcome).toMatchObject({ failure: { reason: 'CodeTimeout' } });
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(await alone.execute(codeRequest('return 1;'), never)).toMatchObject({ json: '1' });
  } finally {
    await alone.close();
  }
});

describe('a thread that fails at start', () => {
  const FAILING = 'throw new Error("no thread");';
  const ENDING = 'process.exit(7);';
  const WORKING = `const { parentPort } = require('node:worker_threads');
    parentPort.on('message', () => parentPort.postMessage({ log: '', json: '1' }));
    parentPort.postMessage('ready');`;
  /** A sandbox whose threads are programs, the last one for all later starts. */
  const sandboxOf = (programs: string[]) => {
    const starts: number[] = [];
    const startThread = () => {
      const program = programs[Math.min(starts.length, programs.length - 1)] ?? '';
      starts.push(performance.now());
      return new Worker(program, { eval: true });
    };
    return { starts, sandbox: createSandbox({ threads: 1, restartMs: 20, startThread }) };
  };

  test.each([
    ['an error', FAILING, 'no thread'],
    ['an exit', ENDING, 'the thread ended with code 7'],
  ])(
    'is started again after delays, and %s fails executions after three attempts',
    async (_what, program, cause) => {
      const { starts, sandbox: alone } = sandboxOf([program]);
      try {
        await expect(alone.execute(codeRequest('return 1;'), never)).rejects.toMatchObject({
          reason: 'Internal',
          message: expect.stringMatching(/^the sandbox did not start in 3 attempts: check the memory limit/),
          cause: { message: cause },
        });
        expect(starts.length).toBe(3);
        const delays = starts.slice(1).map((at, index) => at - (starts[index] ?? 0));
        expect(delays.map((delay, index) => delay >= 20 * 2 ** index - 2)).toEqual([true, true]);
      } finally {
        await alone.close();
      }
    },
  );

  test('executes code once a start succeeds', async () => {
    const { starts, sandbox: alone } = sandboxOf([FAILING, FAILING, WORKING]);
    try {
      expect(await alone.execute(codeRequest('return 1;'), never)).toMatchObject({ json: '1' });
      expect(starts.length).toBe(3);
    } finally {
      await alone.close();
    }
  });

  test('is not started again after the sandbox is closed', async () => {
    const { starts, sandbox: alone } = sandboxOf([FAILING]);
    const failed = alone.execute(codeRequest('return 1;'), never).catch((error: unknown) => error);
    await failed;
    await alone.close();
    await expect(alone.execute(codeRequest('return 1;'), never)).rejects.toMatchObject({
      reason: 'Cancelled',
    });
    expect(starts.length).toBe(3);
  });
});

test('an aborted execution ends with its thread, and the next one gets another', async () => {
  const alone = createSandbox({ threads: 1 });
  const stop = new AbortController();
  try {
    const endless = alone.execute(codeRequest('for (;;);'), stop.signal);
    const waiting = alone.execute(codeRequest('return 1;'), never);
    stop.abort();
    await expect(endless).rejects.toMatchObject({ reason: 'Cancelled' });
    expect(await waiting).toMatchObject({ json: '1' });
  } finally {
    await alone.close();
  }
});

test('a sandbox that is closed ends the executions that go on, wait, or come later', async () => {
  const alone = createSandbox({ threads: 1 });
  await alone.execute(codeRequest('return 1;'), never);
  const executions = [
    alone.execute(codeRequest('for (;;);'), never),
    alone.execute(codeRequest('return 1;'), never),
  ];
  const outcomes = Promise.allSettled(executions);
  await alone.close();
  const rejected = { status: 'rejected', reason: { reason: 'Cancelled' } };
  expect(await outcomes).toMatchObject([rejected, rejected]);
  await expect(alone.execute(codeRequest('return 1;'), never)).rejects.toMatchObject({ reason: 'Cancelled' });
});

test('an endless loop delays no other code while a thread is free', async () => {
  const stop = new AbortController();
  const endless = sandbox.execute(codeRequest('for (;;);'), stop.signal).catch((error: unknown) => error);
  expect(await Promise.all([valueOf('return 1;'), valueOf('return 2;'), valueOf('return 3;')])).toEqual([
    1, 2, 3,
  ]);
  stop.abort();
  expect(await endless).toMatchObject({ reason: 'Cancelled' });
});
