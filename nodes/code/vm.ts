/**
 * One QuickJS VM. Each execution gets a fresh context: the VM's memory is set back to a copy that was made
 * before any code ran. Two of the three fences are here: the interrupt handler and the limits of memory and
 * stack; the maximum in the module's memory section bounds what they do not count.
 */
import type { CodeRequest, CodeOutcome, CodeFailure } from '../contract/code.ts';
import { createHash } from 'node:crypto';
import { EvalFlags, Intrinsics, JSException, QuickJS, type JSValueHandle } from 'quickjs-wasi';
import type { SandboxModules } from './modules.ts';
import {
  hintFor,
  memoryMessage,
  OUTPUT_LIMIT,
  timedOut,
  tooLarge,
  UNREADABLE,
  type Thrown,
} from './failures.ts';
import { formatDate, formatNumber, type Formatted } from './format.ts';
import { ANSWER, FORMAT_FUNCTIONS, LOG_FUNCTION, OUTCOME, PRELUDE } from './prelude.ts';
import { functionOf, OTHER_FORMS, positionIn, printPosition, SOURCE_FILE, type Position } from './source.ts';

const LOG_LIMIT = 16 * 1024;
const STACK_BYTES = 256 * 1024;
/** Free memory that the copy holds, so that small executions do not grow the VM. */
const HEADROOM_BYTES = 1024 * 1024;
const MIB = 1024 * 1024;

type SyntaxProblem = Position & { message: string };

export class CodeVm {
  readonly #quickjs: QuickJS;
  #guest!: Record<'node' | 'value' | 'start' | 'outcome', JSValueHandle>;
  #copy!: { memory: Uint8Array; stackPointer: number; allocated: number };
  #clockMs = 0;
  #deadline = Infinity;
  #isInterrupted = false;
  #log = '';
  /** The engine failed, or has grown: the next execution needs another VM. */
  isSpent = false;

  private constructor(quickjs: QuickJS) {
    this.#quickjs = quickjs;
  }

  static async create({ quickjs, ...extensions }: SandboxModules): Promise<CodeVm> {
    let vm: CodeVm | undefined;
    const engine = await QuickJS.create({
      wasm: quickjs,
      extensions: Object.entries(extensions).map(([name, wasm]) => ({ name, wasm })),
      // A collection of garbage, and the time that passes, would make a repetition compute something else.
      intrinsics: (Intrinsics.ALL & ~Intrinsics.WEAK_REF & ~Intrinsics.PERFORMANCE) >>> 0,
      maxStackSize: STACK_BYTES,
      timezoneOffset: 0,
      interruptHandler: () => vm?.interrupts() ?? false,
      wasi: (memory: WebAssembly.Memory) => ({
        clock_time_get: (_clock: number, _precision: bigint, result: number) => {
          const nanoseconds = BigInt(Math.trunc(vm ? vm.#clockMs : 0)) * 1_000_000n;
          new DataView(memory.buffer).setBigUint64(result, nanoseconds, true);
          return 0;
        },
        random_get: (start: number, length: number) => {
          new Uint8Array(memory.buffer, start, length).fill(0);
          return 0;
        },
        // The engine's own messages would go to the program's stdout.
        fd_write: () => 8,
      }),
    });
    vm = new CodeVm(engine);
    vm.#prepare();
    return vm;
  }

  #prepare(): void {
    const quickjs = this.#quickjs;
    const log = quickjs.newFunction(LOG_FUNCTION, (text) => {
      if (text?.isString) this.#write(text.toString());
      return quickjs.undefined;
    });
    const prelude = quickjs.evalCode(PRELUDE, '<prelude>');
    const guest = quickjs.callFunction(
      prelude,
      quickjs.undefined,
      log,
      quickjs.newNumber(OUTPUT_LIMIT),
      quickjs.newFunction(FORMAT_FUNCTIONS.date, (ms, pattern, timeZone) =>
        this.#answer(() => formatDate(numberOf(ms), textOf(pattern), textOf(timeZone))),
      ),
      quickjs.newFunction(FORMAT_FUNCTIONS.number, (digits, options) =>
        this.#answer(() => formatNumber(textOf(digits), textOf(options))),
      ),
    );
    this.#guest = {
      node: guest.getProp('node'),
      value: guest.getProp('value'),
      start: guest.getProp('start'),
      outcome: guest.getProp('outcome'),
    };
    const { exports } = this.#engine;
    exports.wasm_free(exports.wasm_malloc(HEADROOM_BYTES));
    const { memory, stackPointer } = quickjs.snapshot();
    this.#copy = { memory, stackPointer, allocated: quickjs.getMemoryUsage().mallocSize };
  }

  get #engine() {
    return { exports: this.#quickjs._getExports(), memory: this.#quickjs._getMemory() };
  }

  interrupts(): boolean {
    if (performance.now() < this.#deadline) return false;
    this.#isInterrupted = true;
    return true;
  }

  /** Calls of the host count toward the timeout: the engine asks for an interrupt only every few thousand. */
  #answer(format: () => Formatted): JSValueHandle {
    const late = { problem: 'the code took longer than its timeout' };
    const formatted = this.interrupts() ? late : format();
    const isText = 'text' in formatted;
    return this.#quickjs.newString(
      isText ? ANSWER.text + formatted.text : ANSWER.problem + formatted.problem,
    );
  }

  #write(text: string): void {
    if (this.#log.length > LOG_LIMIT) return;
    this.#log += `${text}\n`;
  }

  /** Forgets everything that was executed. */
  #reset(): void {
    const { exports, memory } = this.#engine;
    const bytes = new Uint8Array(memory.buffer);
    bytes.set(this.#copy.memory);
    bytes.fill(0, this.#copy.memory.length);
    exports.__stack_pointer.value = this.#copy.stackPointer;
    this.#isInterrupted = false;
    this.#log = '';
  }

  #limit(timeoutMs: number, memoryMiB: number): void {
    this.#deadline = performance.now() + timeoutMs;
    this.#engine.exports.qjs_set_memory_limit(this.#copy.allocated + memoryMiB * MIB);
  }

  /**
   * What is wrong with the syntax of a source, which is only compiled. Throws an error of the host where the
   * engine's own stack does not suffice.
   */
  #syntaxProblem(source: string): SyntaxProblem | undefined {
    for (const form of [functionOf, ...OTHER_FORMS]) {
      try {
        const flags = EvalFlags.STRICT | EvalFlags.COMPILE_ONLY;
        this.#quickjs.evalCode(form(source), SOURCE_FILE, flags).dispose();
      } catch (error) {
        if (!(error instanceof JSException)) throw error;
        const { message, stack = '' } = described(error);
        const position = positionIn(stack, source) ?? { line: 1, column: 1 };
        if (message === STACK_OVERFLOW) return { ...position, message: TOO_DEEP };
        return { ...position, message: form === functionOf ? message : EARLY_END };
      }
    }
    return undefined;
  }

  /** Executes the source in a fresh context. Throws nothing. */
  run(request: CodeRequest): CodeOutcome {
    const outcome = this.#attempt(request);
    // The API server replaces half characters, which code can make, and which cutting texts leaves.
    if ('failure' in outcome) outcome.failure.message = outcome.failure.message.toWellFormed();
    const result = { log: cutLog(this.#log.toWellFormed()), ...outcome };
    const { memory } = this.#engine;
    if (memory.buffer.byteLength > this.#copy.memory.length) this.isSpent = true;
    if (!this.isSpent) this.#reset();
    return result;
  }

  #attempt(request: CodeRequest): { json: string } | { failure: CodeFailure } {
    this.#reset();
    this.#clockMs = request.clockMs;
    this.#limit(request.timeoutMs, request.memoryMiB);
    try {
      const problem = this.#syntaxProblem(request.source);
      if (problem && !this.#isInterrupted) {
        const kind = request.compileOnly ? '' : 'SyntaxError: ';
        return { failure: { reason: 'CodeError', message: printPosition(problem) + kind + problem.message } };
      }
      if (request.compileOnly && !this.#isInterrupted) return { json: 'null' };
      if (!problem) this.#execute(request);
      if (this.#isInterrupted) return { failure: timedOut(request) };
      return this.#outcomeOf(request);
    } catch (error) {
      if (!(error instanceof JSException)) this.isSpent = true;
      return { failure: this.#isInterrupted ? timedOut(request) : this.#failureOfError(error, request) };
    }
  }

  #execute({ source, nodes, values, seed }: CodeRequest): void {
    const quickjs = this.#quickjs;
    const { undefined: none } = quickjs;
    const give = (guest: JSValueHandle, [name, text]: [string, string]) =>
      quickjs.callFunction(
        guest,
        none,
        quickjs.newString(name),
        quickjs.newString(text),
        MANY_DIGITS.test(text) ? quickjs.true : quickjs.false,
      );
    for (const node of nodes) give(this.#guest.node, node);
    for (const value of values) give(this.#guest.value, value);
    const code = quickjs.evalCode(functionOf(source), SOURCE_FILE, EvalFlags.STRICT);
    const random = stateOf(seed).map((word) => quickjs.newNumber(word));
    quickjs.callFunction(this.#guest.start, none, code, ...random);
    const { exports } = this.#engine;
    while (!this.#isInterrupted && exports.qjs_is_job_pending()) {
      // A job that throws is a defect of the engine: the error of a promise is its rejection.
      if (exports.qjs_execute_pending_job() < 0) break;
      this.interrupts();
    }
  }

  #outcomeOf(request: CodeRequest): { json: string } | { failure: CodeFailure } {
    const handle = this.#quickjs.callFunction(this.#guest.outcome, this.#quickjs.undefined);
    const text = handle.isString ? handle.toString() : OUTCOME.pending;
    const rest = text.slice(1);
    switch (text[0] ?? OUTCOME.pending) {
      case OUTCOME.value:
        return { json: rest };
      case OUTCOME.refused:
        return {
          failure: { reason: 'InvalidOutput', message: `the code returned ${rest}: return a JSON value` },
        };
      case OUTCOME.large:
        return { failure: tooLarge(Number(rest)) };
      case OUTCOME.thrown:
        return { failure: this.#failureOf(JSON.parse(rest) as Thrown, request) };
      default:
        return {
          failure: {
            reason: 'InvalidOutput',
            message: 'the code awaits a promise that nothing settles: there are no timers and no network',
          },
        };
    }
  }

  #failureOf(thrown: Thrown, request: CodeRequest): CodeFailure {
    const place = printPosition(positionIn(thrown.stack ?? '', request.source));
    const { name, message, isOfEngine = false } = thrown;
    if (message === STACK_OVERFLOW)
      return {
        reason: 'CodeStackExceeded',
        message: `${place}the code nests calls or data too deeply: replace the recursion by a loop`,
      };
    if (isOfEngine ? OUT_OF_MEMORY.includes(message) : name === undefined && this.#isExhausted(request))
      return { reason: 'CodeMemoryExceeded', message: place + memoryMessage(request) };
    const text = name === undefined ? `the code threw ${message}: throw an Error` : `${name}: ${message}`;
    return { reason: 'CodeError', message: place + text + hintFor(thrown) };
  }

  /** The engine has thrown null because it had no memory for an error. */
  #isExhausted({ memoryMiB }: CodeRequest): boolean {
    const used = this.#quickjs.getMemoryUsage().mallocSize - this.#copy.allocated;
    return used > 0.95 * memoryMiB * MIB;
  }

  #failureOfError(error: unknown, request: CodeRequest): CodeFailure {
    try {
      if (error instanceof JSException) return this.#failureOf(described(error), request);
    } catch {
      // Reading the error may execute code.
      this.isSpent = true;
      return this.#isInterrupted ? timedOut(request) : UNREADABLE;
    }
    if (error instanceof RangeError)
      return { reason: 'CodeStackExceeded', message: `${TOO_DEEP}: take it apart` };
    const isOfTexts = error instanceof SyntaxError || error instanceof TypeError;
    return isOfTexts ? UNREADABLE : { reason: 'CodeMemoryExceeded', message: memoryMessage(request) };
  }
}

const TOO_DEEP = 'the code nests expressions or data too deeply';
const EARLY_END = 'a } ends the function of the code early: remove it, or add the missing {';
const STACK_OVERFLOW = 'Maximum call stack size exceeded';
const OUT_OF_MEMORY: readonly string[] = ['out of memory', 'string too long'];
/** Every number of 15 digits without a long exponent fits a double. */
const MANY_DIGITS = /[\d.]{16}|\d[eE][+-]?\d{2}/;

const textOf = (handle: JSValueHandle | undefined): string => (handle?.isString ? handle.toString() : '');
const numberOf = (handle: JSValueHandle | undefined): number => (handle?.isNumber ? handle.toNumber() : NaN);

function described(error: JSException): Thrown {
  try {
    const { name, message, stack } = error;
    return { name, message, ...(stack !== undefined && { stack }), isOfEngine: name === 'InternalError' };
  } finally {
    error.dispose();
  }
}

/** Whole lines up to the limit in bytes, and a line that says that the rest was left out. */
function cutLog(log: string): string {
  if (Buffer.byteLength(log) <= LOG_LIMIT) return log;
  const note = '… the rest of the log was left out: it has at most 16 KiB\n';
  const kept = Buffer.from(log).subarray(0, LOG_LIMIT - Buffer.byteLength(note));
  return `${kept.toString('utf8', 0, kept.lastIndexOf(0x0a) + 1 || kept.length)}${note}`;
}

/** Four words of 32 bits, as the state of a random number generator. */
function stateOf(seed: string): number[] {
  const hash = createHash('sha256').update(seed).digest();
  return [0, 4, 8, 12].map((at) => hash.readInt32LE(at));
}
