/**
 * Does the work of Evaluations in a thread of its own, one piece at a time: patterns, schemas, conditions and
 * lists of authors never keep the operator's event loop, which all projects share. Work beyond its limits is
 * ended with the thread, and the next piece gets another one.
 */
import { Worker } from 'node:worker_threads';
import type { WorkflowRun } from '../../api/kinds.ts';
import type { Revision } from '../../api/revision.ts';
import { isRecord } from '../../api/record.ts';
import type { EvaluationCase, ReadCases } from './cases.ts';
import type { Verdict } from './expectations.ts';
import type { Done, Expected, Work } from './work.ts';

/** The work takes too long or too much memory, or fails. The message says which. */
export class TooExpensive extends Error {}

const READ_LIMIT_MS = 5_000;
const CHECK_LIMIT_MS = 5_000;
/** For all expectations of a run. */
const JUDGE_LIMIT_MS = 1_000;
/** After how long without work the thread ends. */
const IDLE_MS = 60_000;
const MEMORY_MIB = 96;
const YOUNG_MIB = 16;

/** Each rejects with `TooExpensive` where the work is beyond its limits. */
export type EvaluationThread = {
  /** The cases in a text, or what is wrong with it. */
  readCases(text: string): Promise<ReadCases>;
  /** What is wrong with the cases for a revision; undefined: nothing. */
  casesProblem(
    cases: readonly EvaluationCase[],
    workflow: string,
    revision: Revision,
  ): Promise<string | undefined>;
  /** The verdict on a run that has ended. */
  judge(given: Expected, run: WorkflowRun): Promise<Verdict>;
  /** Ends the thread. Work in progress is rejected. */
  close(): Promise<void>;
};

/** A thread that starts with the first work. `memoryMiB`: of its heap. */
export function createEvaluationThread({ memoryMiB = MEMORY_MIB } = {}): EvaluationThread {
  const jobs = new Jobs(memoryMiB);
  return {
    readCases: (text) =>
      jobs.add('reading the cases', READ_LIMIT_MS, { kind: 'read', text }) as Promise<ReadCases>,
    casesProblem: (cases, workflow, revision) =>
      jobs.add('checking the cases', CHECK_LIMIT_MS, {
        kind: 'check',
        cases,
        workflow,
        revision,
      }) as Promise<string | undefined>,
    judge: ({ phase, expect }, run) =>
      jobs.add(`judging run ${run.metadata.name}`, JUDGE_LIMIT_MS, {
        kind: 'judge',
        given: { phase, expect },
        run,
      }) as Promise<Verdict>,
    close: () => jobs.close(),
  };
}

/** `what`: the subject of the message if the job is beyond its limits. */
type Job = { what: string; limitMs: number; work: Work } & Pick<
  PromiseWithResolvers<Done>,
  'resolve' | 'reject'
>;

class Jobs {
  readonly #memoryMiB: number;
  readonly #waiting: Job[] = [];
  #worker: Worker | undefined;
  #isReady = false;
  #current: Job | undefined;
  /** Ends the job in progress, or the thread if there is none. */
  #timer: NodeJS.Timeout | undefined;

  constructor(memoryMiB: number) {
    this.#memoryMiB = memoryMiB;
  }

  add(what: string, limitMs: number, work: Work): Promise<Done> {
    const { promise, resolve, reject } = Promise.withResolvers<Done>();
    this.#waiting.push({ what, limitMs, work, resolve, reject });
    this.#next();
    return promise;
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    const waiting = this.#waiting.splice(0);
    const stopped = new Error('the operator stops');
    this.#end(stopped);
    for (const job of waiting) job.reject(stopped);
    await worker?.terminate();
  }

  #next(): void {
    if (this.#current) return;
    clearTimeout(this.#timer);
    if (!this.#worker) {
      if (this.#waiting.length > 0) this.#start();
      return;
    }
    if (!this.#isReady) return;
    const job = this.#waiting.shift();
    if (!job) {
      this.#timer = setTimeout(() => this.#end(), IDLE_MS).unref();
      return;
    }
    this.#current = job;
    const tooSlow = () => new TooExpensive(`${job.what} takes more than ${job.limitMs / 1_000} s`);
    this.#timer = setTimeout(() => this.#end(tooSlow()), job.limitMs);
    this.#worker.postMessage(job.work, []);
  }

  #start(): void {
    const file = new URL('./evaluationWorker.ts', import.meta.url);
    const resourceLimits = {
      maxOldGenerationSizeMb: this.#memoryMiB,
      maxYoungGenerationSizeMb: YOUNG_MIB,
    };
    const worker = new Worker(file, { execArgv: [], resourceLimits });
    this.#worker = worker;
    worker.unref();
    worker.on('message', (message: 'ready' | { done: Done }) => {
      if (this.#worker !== worker) return;
      if (message === 'ready') this.#isReady = true;
      else this.#conclude()?.resolve(message.done);
      this.#next();
    });
    // An error comes before its exit.
    worker.on('error', (error) => this.#fail(worker, error));
    worker.on('exit', (code) => this.#fail(worker, new Error(`the thread ended with code ${code}`)));
  }

  /** Takes the job in progress, or, where the thread did not start, the job that it was started for. */
  #conclude(): Job | undefined {
    clearTimeout(this.#timer);
    const job = this.#isReady ? this.#current : this.#waiting.shift();
    this.#current = undefined;
    return job;
  }

  /** The thread has ended by itself. */
  #fail(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    const what = this.#current?.what;
    this.#end(what === undefined ? error : new TooExpensive(`${what} ${whyEnded(error)}`));
  }

  /** Ends the thread, whatever it does. */
  #end(error?: Error): void {
    const worker = this.#worker;
    const job = this.#conclude();
    this.#worker = undefined;
    this.#isReady = false;
    void worker?.terminate();
    if (error) job?.reject(error);
    this.#next();
  }
}

/** What the author wrote makes the thread fail, such as a schema that refers to itself without end. */
function whyEnded(error: Error): string {
  return isOutOfMemory(error) ? 'takes too much memory' : `fails (${error.message.slice(0, 200)})`;
}

function isOutOfMemory(error: unknown): boolean {
  return isRecord(error) && error['code'] === 'ERR_WORKER_OUT_OF_MEMORY';
}
