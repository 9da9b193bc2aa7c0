import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSandbox } from './sandbox.ts';
import { type CodeSandbox } from '../contract/code.ts';
import type { CodeOutcome, CodeRequest } from '../contract/code.ts';

const never = new AbortController().signal;
let sandbox: CodeSandbox;
beforeAll(() => (sandbox = createSandbox()));
afterAll(() => sandbox.close());

const CLOCK = Date.UTC(2027, 0, 15, 12);
const request = (source: string, more: Partial<CodeRequest> = {}): CodeRequest => ({
  source,
  nodes: [],
  values: [],
  clockMs: CLOCK,
  seed: 'shop/run-1/code/1',
  timeoutMs: 20_000,
  memoryMiB: 64,
  ...more,
});
const run = (source: string, more: Partial<CodeRequest> = {}): Promise<CodeOutcome> =>
  sandbox.execute(request(source, more), never);
const valueOf = async (source: string, more: Partial<CodeRequest> = {}): Promise<unknown> => {
  const outcome = await run(source, more);
  return 'json' in outcome ? JSON.parse(outcome.json) : outcome;
};

test('the code reads the nodes that were passed, and its value is JSON', async () => {
  const nodes: CodeRequest['nodes'] = [['trigger', '{"data_content":{"items":[{"price":2},{"price":3}]}}']];
  const source = `
    const { items } = nodes.trigger.data_content;
    return { total: items.reduce((sum, { price }) => sum + price, 0), nodes: Object.keys(nodes) };`;
  expect(await valueOf(source, { nodes })).toEqual({ total: 5, nodes: ['trigger'] });
});

test('item, index, previous, run and vars are what was passed, and may be hidden by own variables', async () => {
  const values: CodeRequest['values'] = [
    ['run', '{"id":"run-1"}'],
    ['item', '7'],
  ];
  const source = 'const index = 1; return [run.id, item, index, typeof previous, typeof vars];';
  expect(await valueOf(source, { values })).toEqual(['run-1', 7, 1, 'undefined', 'undefined']);
});

test('the clock stands still at the acceptance of the event, in UTC', async () => {
  const source =
    'const at = Date.now(); return [new Date(), new Date().getTimezoneOffset(), Date.now() - at];';
  expect(await valueOf(source)).toEqual(['2027-01-15T12:00:00.000Z', 0, 0]);
});

test('random numbers repeat with the seed, and differ with another', async () => {
  const source = 'return Array.from({ length: 100 }, Math.random);';
  const first = (await valueOf(source)) as number[];
  expect(await valueOf(source)).toEqual(first);
  expect(await valueOf(source, { seed: 'shop/run-1/code/2' })).not.toEqual(first);
  expect(first.every((number) => number >= 0 && number < 1)).toBe(true);
  expect(new Set(first).size).toBe(100);
});

test('URL, TextEncoder, TextDecoder, atob, btoa and structuredClone exist', async () => {
  const source = `
    const url = new URL('https://example.com/a?b=1');
    url.searchParams.set('c', 'x y');
    return [url.href, url.searchParams.get('b'), new TextEncoder().encode('é').length, atob(btoa('hi')),
      new TextDecoder().decode(new Uint8Array([104, 105])), structuredClone({ a: [1] })];`;
  expect(await valueOf(source)).toEqual(['https://example.com/a?b=1&c=x+y', '1', 2, 'hi', 'hi', { a: [1] }]);
});

test('formatDate and formatNumber format in a time zone and a locale', async () => {
  const source = `
    return [
      formatDate('2026-01-31T22:30:00Z', "d MMMM yyyy 'at' HH:mm XXX", 'Europe/Berlin'),
      formatDate(new Date(), 'yyyy-MM-dd'),
      formatDate(0, 'EEE HH'),
      formatNumber(1234.5, { locale: 'de-DE', minimumFractionDigits: 2 }),
      formatNumber(1234.567),
      formatNumber(0.25, { style: 'percent' }),
      formatNumber(1234.5, { locale: 'en-GB', style: 'currency', currency: 'EUR' }),
      formatNumber(12345678901234567890n),
      formatNumber('0.12345678901234567891', { maximumFractionDigits: 20 }),
    ];`;
  expect(await valueOf(source)).toEqual([
    '31 January 2026 at 23:30 +01:00',
    '2027-01-15',
    'Thu 00',
    '1.234,50',
    '1,234.567',
    '25%',
    '€1,234.50',
    '12,345,678,901,234,567,890',
    '0.12345678901234567891',
  ]);
});

test.each([
  ["formatDate('soon', 'yyyy')", /formatDate\(\): the value must be a Date, a text such as/],
  ["formatDate(null, 'yyyy')", /the value must be a Date/],
  ["formatDate(0, 'QQ')", /formatDate\(\): the call has no QQ: use yyyy, /],
  ["formatDate(0, 'yyyy', 'No/Where')", /requires a time zone such as Europe\/Berlin/],
  ['formatDate(0)', /write formatDate\(value, 'yyyy-MM-dd', 'Europe\/Berlin'\)/],
  ["formatDate(0, 'y'.repeat(201))", /the pattern must have at most 200 characters/],
  ["formatDate(0, 'yyyy', 'a'.repeat(1e6))", /the time zone must be a name/],
  ["formatNumber('many')", /the value must be a number .*: convert texts with Number/],
  ['formatNumber(NaN)', /the value must be a number/],
  ['formatNumber(null)', /write formatNumber\(1234\.5, \{ locale: 'de-DE' \}\)/],
  ['formatNumber("1".repeat(1e6))', /at most 400 digits/],
  ["formatNumber(1, { locale: '!!' })", /locale must be a name such as de-DE/],
  ["formatNumber(1, { style: 'unit' })", /style must be one of decimal, percent, currency/],
  ["formatNumber(1, { style: 'currency' })", /currency must be a code such as EUR/],
  ['formatNumber(1, { unit: 1 })', /there is no option unit: use locale, style/],
  ['formatNumber(1, { maximumFractionDigits: 99 })', /maximumFractionDigits must be an integer from 0 to 20/],
  [
    'formatNumber(1, { minimumFractionDigits: 3, maximumFractionDigits: 2 })',
    /must not be larger than maximumFractionDigits/,
  ],
])('%s fails and says what to write', async (call, message) => {
  expect(await run(`return ${call};`)).toMatchObject({
    failure: { reason: 'CodeError', message: expect.stringMatching(message) },
  });
});

test('code that changes built-ins does not change how it is formatted', async () => {
  const source = `
    Number.prototype.toString = String.prototype.slice = JSON.stringify = () => 'x';
    Date.prototype.getTime = () => 1;
    return [formatNumber(1.5), formatDate(new Date(0), 'yyyy')];`;
  expect(await valueOf(source)).toEqual(['1.5', '1970']);
});

test('promises are awaited', async () => {
  const source = `
    const all = Array.from({ length: 1000 }, async (_, at) => at);
    return (await Promise.all(all)).length;`;
  expect(await valueOf(source)).toBe(1000);
});

test('integers beyond 2^53 arrive as BigInt, other exact numbers as text, and BigInt leaves as digits', async () => {
  const nodes: CodeRequest['nodes'] = [
    ['a', '[12345678901234567890,-9007199254740993,1.2345678901234567890123,0.1,1e400,9007199254740991]'],
  ];
  const outcome = await run('return [...nodes.a.map((each) => typeof each), nodes.a, 2n ** 70n];', { nodes });
  expect(outcome).toEqual({
    log: '',
    json: '["bigint","bigint","string","number","string","number",[12345678901234567890,-9007199254740993,"1.2345678901234567890123",0.1,"1e400",9007199254740991],1180591620717411303424]',
  });
});

test('console.log is kept, up to 16 KiB', async () => {
  const { log } = await run('console.log("total", { a: 1n }, new TypeError("no")); console.warn([1]);');
  expect(log).toBe('total {"a":1} TypeError: no\n[1]\n');
  const much = await run('for (let at = 0; at < 5000; at += 1) console.log("line", at); return 1;');
  expect(much).toMatchObject({ json: '1' });
  expect(Buffer.byteLength(much.log)).toBeLessThanOrEqual(16 * 1024);
  expect(much.log).toMatch(
    /^line 0\nline 1\n.*\n… the rest of the log was left out: it has at most 16 KiB\n$/s,
  );
});

test('texts of the log and of errors have no half characters', async () => {
  const outcome = await run('console.log("a\\ud800"); throw new Error("b".repeat(1999) + "😀");');
  expect(outcome).toEqual({
    log: 'a\ufffd\n',
    failure: { reason: 'CodeError', message: `line 1, column 60: Error: ${'b'.repeat(1999)}\ufffd` },
  });
});

test('the log of code that fails is kept', async () => {
  expect(await run('console.log("here"); for (;;);', { timeoutMs: 100 })).toMatchObject({
    log: 'here\n',
    failure: { reason: 'CodeTimeout' },
  });
});

describe('a fresh context', () => {
  test.each([
    ['a global variable', 'globalThis.left = 1;', 'return typeof left;', 'undefined'],
    [
      'a changed prototype',
      'Object.prototype.left = 1; Array.prototype.map = 1;',
      'return [typeof {}.left, [1].map((x) => x)];',
      ['undefined', [1]],
    ],
    [
      'a changed built-in',
      'JSON.stringify = () => "1"; Promise.prototype.then = 1;',
      'return { a: 1 };',
      { a: 1 },
    ],
    [
      'a registered symbol and a promise',
      'Promise.resolve().then(() => { globalThis.left = 1 });',
      'return typeof left;',
      'undefined',
    ],
  ])('shows nothing of %s of the execution before', async (_what, before, source, value) => {
    const alone = createSandbox({ threads: 1 });
    try {
      await alone.execute(request(`${before} return null;`), never);
      const outcome = await alone.execute(request(source), never);
      expect('json' in outcome && JSON.parse(outcome.json)).toEqual(value);
    } finally {
      await alone.close();
    }
  });
});

type Failing = [what: string, source: string, reason: string, message: RegExp, more?: Partial<CodeRequest>];

const short = { timeoutMs: 100 };

test.each<Failing>([
  [
    'an endless loop',
    'for (;;);',
    'CodeTimeout',
    /longer than its timeout of 0\.1 s: make it do less, or raise code\.timeout/,
    short,
  ],
  [
    'an endless loop that formats, and catches',
    'for (let at = 0; ; at += 1) try { formatDate(at, "yyyy", "a".repeat(at % 60)); } catch {}',
    'CodeTimeout',
    /timeout/,
    short,
  ],
  ['an endless loop that catches', 'for (;;) try { for (;;); } catch {}', 'CodeTimeout', /timeout/, short],
  ['an endless loop in finally', 'try { for (;;); } finally { for (;;); }', 'CodeTimeout', /timeout/, short],
  [
    'an endless chain of promises',
    '(function next() { return Promise.resolve().then(next) })(); await new Promise(() => {});',
    'CodeTimeout',
    /timeout/,
    short,
  ],
  [
    'endless loops that are caught by promises',
    '(function f() { (async () => { for (;;); })().catch(f) })(); await new Promise(() => {});',
    'CodeTimeout',
    /timeout/,
    short,
  ],
  [
    'a catastrophic regular expression',
    'return /(a+)+$/.test("a".repeat(50) + "b");',
    'CodeTimeout',
    /timeout/,
    short,
  ],
  [
    'an endless iterator in a built-in',
    'return Array.from({ [Symbol.iterator]: () => ({ next: () => ({ value: 0 }) }), length: 1 }).length;',
    'CodeMemoryExceeded',
    /limit of 8 MiB/,
    { memoryMiB: 8 },
  ],
  [
    'an endless list',
    'const all = []; for (;;) all.push([1, 2, 3]);',
    'CodeMemoryExceeded',
    /^line 1, column \d+: the code needs more memory than its limit of 8 MiB: .*memoryMiB/,
    { memoryMiB: 8 },
  ],
  [
    'endless typed arrays',
    'const all = []; for (;;) all.push(new Uint8Array(1e6));',
    'CodeMemoryExceeded',
    /limit of 64 MiB/,
  ],
  [
    'one huge typed array',
    'return new ArrayBuffer(1e9).byteLength;',
    'CodeMemoryExceeded',
    /limit of 64 MiB/,
  ],
  [
    'a text that doubles',
    'let text = "x"; for (;;) text += text;',
    'CodeMemoryExceeded',
    /limit of 8 MiB/,
    { memoryMiB: 8 },
  ],
  [
    'recursion',
    'function again() { return again() + 1 }\nreturn again();',
    'CodeStackExceeded',
    /^line \d, column \d+: the code nests calls or data too deeply/,
  ],
  [
    'expressions nested too deeply',
    `return ${'('.repeat(20_000)}1${')'.repeat(20_000)};`,
    'CodeStackExceeded',
    /too deeply/,
  ],
  [
    'data nested too deeply',
    'let x = []; for (let i = 0; i < 100000; i += 1) x = [x]; return x;',
    'CodeStackExceeded',
    /too deeply/,
  ],
  [
    'a returned function',
    'return () => 1;',
    'InvalidOutput',
    /^the code returned a function: return a JSON value$/,
  ],
  ['a returned symbol', 'return Symbol("a");', 'InvalidOutput', /a symbol/],
  ['a cyclic object', 'const a = {}; a.a = a; return a;', 'InvalidOutput', /an object that contains itself/],
  [
    '9 MiB',
    'return "x".repeat(9 * 1024 * 1024);',
    'OutputTooLarge',
    /^the code returned 9217 KiB of JSON, and an output has at most 512 KiB/,
  ],
  [
    'a promise that never settles',
    'return new Promise(() => {});',
    'InvalidOutput',
    /awaits a promise that nothing settles/,
  ],
  [
    'a thrown text',
    'throw "no";',
    'CodeError',
    /^the code threw a value that is not an Error: no: throw an Error$/,
  ],
  [
    'a name of n8n',
    'return $json.name;',
    'CodeError',
    /^line 1, column 8: ReferenceError: \$json is not defined: read the output of a node: nodes\.<id>\.data_content$/,
  ],
  ['Intl', 'return new Intl.NumberFormat();', 'CodeError', /is not defined: use formatDate\(value, pattern/],
  ['a name of Node.js', 'require("fs");', 'CodeError', /is not defined: the sandbox has no modules/],
  ['a name that nobody has', 'return total;', 'CodeError', /: ReferenceError: total is not defined$/],
  [
    'an error of its own about memory',
    'throw new Error("out of memory");',
    'CodeError',
    /: Error: out of memory$/,
  ],
  [
    "an error of its own with the name of the engine's",
    'throw Object.assign(new Error("string too long"), { name: "InternalError" });',
    'CodeError',
    /: InternalError: string too long$/,
  ],
  [
    "an error of the engine's class",
    'throw new InternalError("out of memory");',
    'CodeError',
    /ReferenceError: InternalError is not defined/,
  ],
  [
    'an error while much memory is in use',
    'globalThis.kept = new Uint8Array(7.8 * 1024 * 1024); throw new Error("no such item");',
    'CodeError',
    /: Error: no such item$/,
    { memoryMiB: 8 },
  ],
  ['a thrown null', 'throw null;', 'CodeError', /^the code threw a value that is not an Error: null/],
  ['a thrown object', 'throw { a: 1 };', 'CodeError', /\{"a":1\}/],
  [
    'a thrown error',
    '\nconst a = 1;\n  throw new RangeError("no such item");',
    'CodeError',
    /^line 3, column \d+: RangeError: no such item$/,
  ],
  [
    'an error of the engine',
    'return null.name;',
    'CodeError',
    /^line 1, column \d+: TypeError: cannot read property 'name' of null$/,
  ],
  [
    'an error in a callback',
    'return [1].map((each) => {\n  return each.a.b;\n});',
    'CodeError',
    /^line 2, column \d+: TypeError/,
  ],
  [
    'an error whose members throw',
    'const error = new Error(); Object.defineProperty(error, "message", { get() { throw 1 } }); throw error;',
    'CodeError',
    /a value that cannot be read/,
  ],
  [
    'an error whose members loop',
    'const error = new Error(); Object.defineProperty(error, "stack", { get() { for (;;); } }); throw error;',
    'CodeTimeout',
    /timeout/,
    short,
  ],
  [
    'an error behind a changed toJSON',
    'Object.prototype.toJSON = () => undefined; throw new Error("no");',
    'CodeError',
    /a value that cannot be read/,
  ],
  [
    'a species that throws what loops',
    'const evil = new Error(); Object.defineProperty(evil, "message", { get() { for (;;); } }); Promise.prototype.constructor = { [Symbol.species]: function () { throw evil } }; return 1;',
    'CodeTimeout',
    /timeout/,
    short,
  ],
  ['a value whose toJSON loops', 'return { toJSON() { for (;;); } };', 'CodeTimeout', /timeout/, short],
  [
    'invalid syntax',
    'const a = 1;\nconst b = ;',
    'CodeError',
    /^line 2, column \d+: SyntaxError: unexpected token/,
  ],
  [
    'invalid syntax after U+2028',
    'const a = 1;\u2028const b = ;',
    'CodeError',
    /^line 1, column 2\d: SyntaxError: unexpected token/,
  ],
  [
    'an error after a carriage return',
    '// first\rconst a = 1;\r\n  throw new Error("no");',
    'CodeError',
    /^line 3, column \d+: Error: no$/,
  ],
  [
    'a source that ends its own function',
    'return 1; } , async function () { return 2;',
    'CodeError',
    /a } ends the function of the code early/,
  ],
  ['an import', 'return import("node:fs");', 'CodeError', /could not load module/],
  ['a static import', 'import fs from "node:fs";', 'CodeError', /SyntaxError/],
])('%s fails', async (_what, source, reason, message, more = {}) => {
  const outcome = await run(source, more);
  expect(outcome).toMatchObject({ failure: { reason, message: expect.stringMatching(message) } });
  // The sandbox executes the next code as if nothing had been before it.
  expect(await valueOf('return 1 + 1;')).toBe(2);
});

test('code that the interrupt handler cannot stop ends with its thread', async () => {
  const alone = createSandbox({ threads: 1, graceMs: 100 });
  try {
    // An extension is asked for work that takes minutes, without an instruction of the engine between.
    const source = 'const text = "http://a/" + "x".repeat(4e6); for (;;) new URL(text);';
    const started = performance.now();
    const outcome = await alone.execute(request(source, { timeoutMs: 200 }), never);
    expect(outcome).toMatchObject({ failure: { reason: 'CodeTimeout' } });
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(await alone.execute(request('return 1;'), never)).toMatchObject({ json: '1' });
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
        await expect(alone.execute(request('return 1;'), never)).rejects.toMatchObject({
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
      expect(await alone.execute(request('return 1;'), never)).toMatchObject({ json: '1' });
      expect(starts.length).toBe(3);
    } finally {
      await alone.close();
    }
  });

  test('is not started again after the sandbox is closed', async () => {
    const { starts, sandbox: alone } = sandboxOf([FAILING]);
    const failed = alone.execute(request('return 1;'), never).catch((error: unknown) => error);
    await failed;
    await alone.close();
    await expect(alone.execute(request('return 1;'), never)).rejects.toMatchObject({ reason: 'Cancelled' });
    expect(starts.length).toBe(3);
  });
});

test('an aborted execution ends with its thread, and the next one gets another', async () => {
  const alone = createSandbox({ threads: 1 });
  const stop = new AbortController();
  try {
    const endless = alone.execute(request('for (;;);'), stop.signal);
    const waiting = alone.execute(request('return 1;'), never);
    stop.abort();
    await expect(endless).rejects.toMatchObject({ reason: 'Cancelled' });
    expect(await waiting).toMatchObject({ json: '1' });
  } finally {
    await alone.close();
  }
});

test('a sandbox that is closed ends the executions that go on, wait, or come later', async () => {
  const alone = createSandbox({ threads: 1 });
  await alone.execute(request('return 1;'), never);
  const executions = [alone.execute(request('for (;;);'), never), alone.execute(request('return 1;'), never)];
  const outcomes = Promise.allSettled(executions);
  await alone.close();
  const rejected = { status: 'rejected', reason: { reason: 'Cancelled' } };
  expect(await outcomes).toMatchObject([rejected, rejected]);
  await expect(alone.execute(request('return 1;'), never)).rejects.toMatchObject({ reason: 'Cancelled' });
});

test('an endless loop delays no other code while a thread is free', async () => {
  const stop = new AbortController();
  const endless = sandbox.execute(request('for (;;);'), stop.signal).catch((error: unknown) => error);
  expect(await Promise.all([valueOf('return 1;'), valueOf('return 2;'), valueOf('return 3;')])).toEqual([
    1, 2, 3,
  ]);
  stop.abort();
  expect(await endless).toMatchObject({ reason: 'Cancelled' });
});
