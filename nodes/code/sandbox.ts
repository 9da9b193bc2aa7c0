/**
 * Executes code in worker threads, one execution per thread at a time, so that code never delays the event
 * loop of the runner. An execution that does not end by its own limits is ended with its thread.
 */
import { Worker } from 'node:worker_threads';
import { StepError } from '../../api/reasons.ts';
import { abortion } from '../contract/node.ts';
import { loadModules, type SandboxModules } from './modules.ts';
import { memoryMessage, timedOut } from './vm.ts';
import { type CodeOutcome, type CodeRequest, type CodeSandbox } from '../contract/code.ts';

export type SandboxOptions = {
  /** The most threads. They start when they are needed. Default 2. */
  threads?: number;
  /** How long an execution may exceed its timeout before its thread is ended. Default 1,000 ms. */
  graceMs?: number;
  /** After how long without work a thread ends. Default 300,000 ms. */
  idleMs?: number;
};

type Job = {
  request: CodeRequest;
  resolve: (outcome: CodeOutcome) => void;
  reject: (error: unknown) => void;
};

type Thread = { worker: Worker; isReady: boolean; job?: Job; fence?: NodeJS.Timeout; idle?: NodeJS.Timeout };

/** Bounds what a thread has beside its VM: the texts of one execution. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 4, stackSizeMb: 2 };

/** An image has the program of the thread beside this one, under its other ending (`images/bundle.ts`). */
const threadFile = new URL('./codeWorker.ts', import.meta.url);

/** A sandbox without threads yet. */
export function createSandbox(options: SandboxOptions = {}): CodeSandbox {
  const pool = new ThreadPool(options);
  return { execute: (request, signal) => pool.execute(request, signal), close: () => pool.close() };
}

class ThreadPool {
  readonly #most: number;
  readonly #graceMs: number;
  readonly #idleMs: number;
  readonly #threads = new Set<Thread>();
  readonly #waiting: Job[] = [];
  #modules: Promise<SandboxModules> | undefined;
  #starting = 0;
  #isClosed = false;

  constructor({ threads = 2, graceMs = 1_000, idleMs = 300_000 }: SandboxOptions) {
    this.#most = threads;
    this.#graceMs = graceMs;
    this.#idleMs = idleMs;
  }

  async execute(request: CodeRequest, signal: AbortSignal): Promise<CodeOutcome> {
    signal.throwIfAborted();
    if (this.#isClosed) throw stopped();
    const { promise, resolve, reject } = Promise.withResolvers<CodeOutcome>();
    const job: Job = { request, resolve, reject };
    this.#waiting.push(job);
    const abort = (): void => this.#abort(job, abortion(signal));
    signal.addEventListener('abort', abort);
    this.#assign();
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  /** Ends every execution, and the threads. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const job of this.#waiting.splice(0)) job.reject(stopped());
    const threads = [...this.#threads];
    for (const thread of threads) this.#conclude(thread)?.reject(stopped());
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }

  /** Gives waiting jobs to free threads, and starts a thread if too few come free by themselves. */
  #assign(): void {
    for (const thread of this.#threads) if (thread.isReady && !thread.job) this.#begin(thread);
    const coming = [...this.#threads].filter(({ isReady, job }) => !isReady && !job).length + this.#starting;
    const isFull = this.#threads.size + this.#starting >= this.#most;
    if (this.#waiting.length <= coming || isFull || this.#isClosed) return;
    this.#start().catch((error: unknown) => {
      for (const job of this.#waiting.splice(0)) job.reject(error);
    });
  }

  #begin(thread: Thread): void {
    const job = this.#waiting.shift();
    if (!job) return;
    clearTimeout(thread.idle);
    thread.job = job;
    thread.worker.ref();
    const { request } = job;
    thread.fence = setTimeout(() => {
      this.#end(thread);
      job.resolve({ log: '', failure: timedOut(request) });
    }, request.timeoutMs + this.#graceMs);
    thread.worker.postMessage(request, []);
  }

  /** Takes the job from its thread. */
  #conclude(thread: Thread): Job | undefined {
    const { job } = thread;
    clearTimeout(thread.fence);
    clearTimeout(thread.idle);
    delete thread.job;
    thread.worker.unref();
    return job;
  }

  /** Ends a thread, whatever it does. The next execution gets another one. */
  #end(thread: Thread): void {
    this.#conclude(thread);
    this.#threads.delete(thread);
    void thread.worker.terminate();
    this.#assign();
  }

  #abort(job: Job, error: StepError): void {
    const at = this.#waiting.indexOf(job);
    if (at >= 0) this.#waiting.splice(at, 1);
    const thread = [...this.#threads].find((each) => each.job === job);
    if (thread) this.#end(thread);
    job.reject(error);
  }

  async #start(): Promise<void> {
    this.#starting += 1;
    try {
      this.#modules ??= loadModules();
      const workerData = await this.#modules;
      if (this.#isClosed) return;
      this.#follow(new Worker(threadFile, { workerData, execArgv: [], resourceLimits: RESOURCE_LIMITS }));
    } finally {
      this.#starting -= 1;
    }
    this.#assign();
  }

  #follow(worker: Worker): void {
    const thread: Thread = { worker, isReady: false };
    this.#threads.add(thread);
    worker.unref();
    worker.on('message', (message: CodeOutcome | 'ready' | 'busy') => {
      if (message === 'ready' || message === 'busy') thread.isReady = message === 'ready';
      else this.#conclude(thread)?.resolve(message);
      this.#assign();
      if (!thread.job) this.#endWhenIdle(thread);
    });
    worker.on('error', (error) => this.#fail(thread, error));
  }

  #endWhenIdle(thread: Thread): void {
    clearTimeout(thread.idle);
    thread.idle = setTimeout(() => this.#endIdle(thread), this.#idleMs).unref();
  }

  /** The machine code of the modules takes most of the memory: it goes with the last thread. */
  #endIdle(thread: Thread): void {
    this.#end(thread);
    if (this.#threads.size === 0 && this.#starting === 0) this.#modules = undefined;
  }

  /** The thread has ended by itself. */
  #fail(thread: Thread, error: Error): void {
    const job = this.#conclude(thread);
    this.#threads.delete(thread);
    if (job && isOutOfMemory(error)) {
      const message = memoryMessage(job.request);
      job.resolve({ log: '', failure: { reason: 'CodeMemoryExceeded', message } });
    } else job?.reject(error);
    this.#assign();
  }
}

const stopped = (): StepError => new StepError('Cancelled', 'the runner was stopped');

function isOutOfMemory(error: Error): boolean {
  return 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
