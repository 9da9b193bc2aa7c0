/**
 * Executes code in worker threads, one execution per thread at a time, so that code never delays the event
 * loop of the runner. An execution that does not end by its own limits is ended with its thread. Threads that
 * fail at start are started again with increasing delays.
 */
import { Worker } from 'node:worker_threads';
import { StepError } from '../../api/reasons.ts';
import { abortion } from '../contract/node.ts';
import { loadModules, type SandboxModules } from './modules.ts';
import { memoryMessage, timedOut } from './failures.ts';
import { type CodeOutcome, type CodeRequest, type CodeSandbox } from '../contract/code.ts';

export type SandboxOptions = {
  /** The most threads. They start when they are needed. Default 2. */
  threads?: number;
  /** How long an execution may exceed its timeout before its thread is ended. Default 1,000 ms. */
  graceMs?: number;
  /** After how long without work a thread ends. Default 300,000 ms. */
  idleMs?: number;
  /** The delay after the first failed start; it doubles up to 30,000 ms. Default 250 ms. */
  restartMs?: number;
  /** Starts a thread. Default: a worker with `codeWorker.ts`. */
  startThread?: (modules: SandboxModules) => Worker;
};

type Job = {
  request: CodeRequest;
  resolve: (outcome: CodeOutcome) => void;
  reject: (error: unknown) => void;
};

type Thread = {
  worker: Worker;
  /** It has been ready once. */
  hasStarted: boolean;
  isReady: boolean;
  job?: Job;
  fence?: NodeJS.Timeout;
  idle?: NodeJS.Timeout;
};

/** After this many failed starts in a row, executions that wait for a thread fail. */
const START_ATTEMPTS = 3;
const LONGEST_RESTART_MS = 30_000;

/** Bounds what a thread has beside its VM: the texts of one execution. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 4, stackSizeMb: 2 };

/** An image has the program of the thread beside this one, under its other ending (`images/bundle.ts`). */
const threadFile = new URL('./codeWorker.ts', import.meta.url);

const startWorker = (workerData: SandboxModules): Worker =>
  new Worker(threadFile, { workerData, execArgv: [], resourceLimits: RESOURCE_LIMITS });

/** A sandbox without threads yet. */
export function createSandbox(options: SandboxOptions = {}): CodeSandbox {
  const pool = new ThreadPool(options);
  return { execute: (request, signal) => pool.execute(request, signal), close: () => pool.close() };
}

class ThreadPool {
  readonly #most: number;
  readonly #graceMs: number;
  readonly #idleMs: number;
  readonly #restartMs: number;
  readonly #startThread: (modules: SandboxModules) => Worker;
  readonly #threads = new Set<Thread>();
  readonly #waiting: Job[] = [];
  #modules: Promise<SandboxModules> | undefined;
  #starting = 0;
  #failedStarts = 0;
  /** Runs until the next start may be tried. */
  #pause: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: SandboxOptions) {
    this.#most = options.threads ?? 2;
    this.#graceMs = options.graceMs ?? 1_000;
    this.#idleMs = options.idleMs ?? 300_000;
    this.#restartMs = options.restartMs ?? 250;
    this.#startThread = options.startThread ?? startWorker;
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
    clearTimeout(this.#pause);
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
    if (this.#waiting.length <= coming || isFull || this.#isClosed || this.#pause) return;
    this.#start().catch((error: unknown) => this.#failStart(error));
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
      const modules = await this.#modules;
      if (this.#isClosed) return;
      this.#follow(this.#startThread(modules));
    } finally {
      this.#starting -= 1;
    }
    this.#assign();
  }

  /**
   * Tries the next start after a delay. An execution does not wait for more than `START_ATTEMPTS` of them.
   */
  #failStart(cause: unknown): void {
    this.#modules = undefined;
    this.#failedStarts += 1;
    if (this.#failedStarts >= START_ATTEMPTS)
      for (const job of this.#waiting.splice(0)) job.reject(cannotStart(this.#failedStarts, cause));
    if (this.#isClosed || this.#pause) return;
    const delayMs = Math.min(this.#restartMs * 2 ** (this.#failedStarts - 1), LONGEST_RESTART_MS);
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      this.#assign();
    }, delayMs);
  }

  #follow(worker: Worker): void {
    const thread: Thread = { worker, hasStarted: false, isReady: false };
    this.#threads.add(thread);
    worker.unref();
    worker.on('message', (message: CodeOutcome | 'ready' | 'busy') => {
      if (message === 'ready') {
        this.#failedStarts = 0;
        thread.hasStarted = true;
      }
      if (message === 'ready' || message === 'busy') thread.isReady = message === 'ready';
      else this.#conclude(thread)?.resolve(message);
      this.#assign();
      if (!thread.job) this.#endWhenIdle(thread);
    });
    worker.on('error', (error) => this.#fail(thread, error));
    worker.on('exit', (code) => this.#fail(thread, new Error(`the thread ended with code ${code}`)));
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

  /** The thread has ended by itself: an error comes before its exit. */
  #fail(thread: Thread, error: Error): void {
    if (!this.#threads.delete(thread)) return;
    const job = this.#conclude(thread);
    if (job && isOutOfMemory(error)) {
      const message = memoryMessage(job.request);
      job.resolve({ log: '', failure: { reason: 'CodeMemoryExceeded', message } });
    } else job?.reject(error);
    if (!thread.hasStarted) this.#failStart(error);
    this.#assign();
  }
}

const cannotStart = (attempts: number, cause: unknown): StepError =>
  new StepError(
    'Internal',
    `the sandbox did not start in ${attempts} attempts: check the memory limit of the runner and its log, then retry the run`,
    { cause },
  );

const stopped = (): StepError => new StepError('Cancelled', 'the runner was stopped');

function isOutOfMemory(error: Error): boolean {
  return 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
