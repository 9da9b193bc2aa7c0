/**
 * Executes code in worker threads, one execution per thread at a time, so that code never delays the event
 * loop of the runner. An execution that does not end by its own limits is ended with its thread.
 */
import { Worker } from 'node:worker_threads';
import { StepError } from '../../api/reasons.ts';
import { abortion } from '../node.ts';
import { loadModules, type SandboxModules } from './modules.ts';
import { memoryMessage, timedOut, type CodeOutcome, type CodeRequest } from './vm.ts';

export type CodeSandbox = {
  /**
   * Executes the code. The time that it waits for a thread is not part of its timeout.
   * @throws StepError when the signal is aborted
   */
  execute(request: CodeRequest, signal: AbortSignal): Promise<CodeOutcome>;
  /** Ends all threads. */
  close(): Promise<void>;
};

export type SandboxOptions = {
  /** The most threads. They start when they are needed. Default 2. */
  threads?: number;
  /** How long an execution may exceed its timeout before its thread is ended. Default 1,000 ms. */
  graceMs?: number;
  /** After how long without work all threads but one end. Default 30,000 ms. */
  idleMs?: number;
};

type Job = {
  request: CodeRequest;
  resolve: (outcome: CodeOutcome) => void;
  reject: (error: Error) => void;
};

type Thread = { worker: Worker; isReady: boolean; job?: Job; fence?: NodeJS.Timeout; idle?: NodeJS.Timeout };

/** Bounds what a thread has beside its VM: the texts of one execution. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 4, stackSizeMb: 2 };

/** An image has the program of the thread beside this one, under its other ending (`images/bundle.ts`). */
const threadFile = new URL('./codeWorker.ts', import.meta.url);

export function createSandbox({
  threads: most = 2,
  graceMs = 1_000,
  idleMs = 30_000,
}: SandboxOptions = {}): CodeSandbox {
  const threads = new Set<Thread>();
  const waiting: Job[] = [];
  let modules: Promise<SandboxModules> | undefined;
  let starting = 0;
  let isClosed = false;

  const assign = (): void => {
    for (const thread of threads) {
      if (waiting.length === 0) return;
      if (thread.isReady && !thread.job) begin(thread);
    }
    const coming = starting + [...threads].filter(({ isReady, job }) => !isReady && !job).length;
    if (waiting.length > coming && threads.size + starting < most && !isClosed) void start();
  };

  const begin = (thread: Thread): void => {
    const job = waiting.shift();
    if (!job) return;
    thread.job = job;
    clearTimeout(thread.idle);
    thread.worker.ref();
    const { request } = job;
    thread.fence = setTimeout(() => {
      end(thread);
      job.resolve({ log: '', failure: timedOut(request) });
    }, request.timeoutMs + graceMs);
    thread.worker.postMessage(request, []);
  };

  const conclude = (thread: Thread): Job | undefined => {
    const { job } = thread;
    clearTimeout(thread.fence);
    delete thread.job;
    thread.worker.unref();
    clearTimeout(thread.idle);
    thread.idle = setTimeout(() => threads.size > 1 && end(thread), idleMs).unref();
    return job;
  };

  /** Ends a thread, whatever it does. The next execution gets another one. */
  const end = (thread: Thread): void => {
    conclude(thread);
    clearTimeout(thread.idle);
    threads.delete(thread);
    void thread.worker.terminate();
    assign();
  };

  const start = async (): Promise<void> => {
    starting += 1;
    try {
      modules ??= loadModules();
      const workerData = await modules;
      if (isClosed) return;
      const worker = new Worker(threadFile, { workerData, execArgv: [], resourceLimits: RESOURCE_LIMITS });
      const thread: Thread = { worker, isReady: false };
      threads.add(thread);
      worker.unref();
      worker.on('message', (message: CodeOutcome | 'ready' | 'busy') => {
        if (message === 'ready' || message === 'busy') thread.isReady = message === 'ready';
        else conclude(thread)?.resolve(message);
        assign();
      });
      worker.on('error', (error) => fail(thread, error));
    } finally {
      starting -= 1;
    }
    assign();
  };

  const fail = (thread: Thread, error: Error): void => {
    const job = conclude(thread);
    clearTimeout(thread.idle);
    threads.delete(thread);
    if (job && isOutOfMemory(error)) {
      const message = memoryMessage(job.request);
      job.resolve({ log: '', failure: { reason: 'CodeMemoryExceeded', message } });
    } else job?.reject(error);
    assign();
  };

  return {
    execute: async (request, signal) => {
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<CodeOutcome>();
      const job: Job = { request, resolve, reject };
      waiting.push(job);
      const abort = (): void => {
        const at = waiting.indexOf(job);
        if (at >= 0) waiting.splice(at, 1);
        const thread = [...threads].find((each) => each.job === job);
        if (thread) end(thread);
        reject(abortion(signal));
      };
      signal.addEventListener('abort', abort);
      assign();
      try {
        return await promise;
      } finally {
        signal.removeEventListener('abort', abort);
      }
    },
    close: async () => {
      isClosed = true;
      for (const job of waiting.splice(0)) job.reject(new StepError('Cancelled', 'the runner was stopped'));
      for (const { idle } of threads) clearTimeout(idle);
      await Promise.all([...threads].map(({ worker }) => worker.terminate()));
    },
  };
}

function isOutOfMemory(error: Error): boolean {
  return 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
