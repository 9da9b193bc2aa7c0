/** Escapes that are known of n8n, vm2 and QuickJS. docs/security.md lists them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSandbox } from './sandbox.ts';
import { type CodeSandbox } from '../contract/code.ts';

const never = new AbortController().signal;
let sandbox: CodeSandbox;
beforeAll(() => (sandbox = createSandbox({ threads: 1 })));
afterAll(() => sandbox.close());

const run = (source: string) =>
  sandbox.execute(
    { source, nodes: [], values: [['run', '{}']], clockMs: 0, seed: 'a', timeoutMs: 5_000, memoryMiB: 32 },
    never,
  );

/** Names that exist only outside of the sandbox. */
const HOST = [
  'process',
  'require',
  'module',
  'global',
  'Buffer',
  'fetch',
  'WebAssembly',
  'Worker',
  'setTimeout',
  'setInterval',
  'XMLHttpRequest',
  'Atomics',
  'std',
  'os',
  'print',
  'scriptArgs',
  'navigator',
  'Deno',
  'Bun',
  'importScripts',
  'performance',
  'WeakRef',
  'FinalizationRegistry',
  'Intl',
];

test('no object of the host is a global', async () => {
  const outcome = await run(
    `return ${JSON.stringify(HOST)}.filter((name) => typeof globalThis[name] !== 'undefined');`,
  );
  expect(outcome).toMatchObject({ json: '[]' });
});

/** Whether `found` yields one of these for its name. A function that is made here may be asynchronous. */
const REACHED = `(async () => {
  for (const name of ['process', 'require', 'mainModule'])
    try {
      if (typeof (await found(name)) !== 'undefined') return true;
    } catch {}
  return false;
})()`;

test.each<[what: string, source: string]>([
  [
    'the constructor of a function',
    `const found = (name) => nodes.constructor.constructor('return typeof ' + name + " === 'undefined' ? undefined : " + name)(); return ${REACHED};`,
  ],
  [
    'the constructor of a host function',
    `const found = (name) => console.log.constructor('return this.' + name)(); return ${REACHED};`,
  ],
  [
    'the constructor of an async and a generator function',
    `const makers = [(async () => {}).constructor, (function* () {}).constructor]; const found = (name) => makers.map((make) => make('return this.' + name)().next?.().value).find((each) => each); return ${REACHED};`,
  ],
  ['indirect eval', `const found = (name) => (0, eval)('this.' + name); return ${REACHED};`],
  [
    'this of a plain function',
    `const found = (name) => (function () { return this })()?.[name]; return ${REACHED};`,
  ],
  [
    'the caller of a getter on a returned value',
    `let found = () => undefined; const value = { get a() { try { found = (name) => arguments.callee.caller.constructor('return this.' + name)(); } catch {} return 1; } }; JSON.stringify(value); return ${REACHED};`,
  ],
  [
    'an error of a host function and its stack',
    `let found = () => undefined; try { console.log({ toString() { throw new Error('x') } }, Symbol('a')); } catch (error) { found = (name) => error.constructor.constructor('return this.' + name)(); } return ${REACHED};`,
  ],
  [
    'Error.prepareStackTrace',
    `let seen = []; Error.prepareStackTrace = (error, frames) => { seen = frames; return ''; }; try { null.a } catch (error) { error.stack } const found = (name) => seen.map((frame) => frame.getThis?.()?.[name] ?? frame.getFunction?.()?.constructor?.('return this.' + name)()).find((each) => each); return ${REACHED};`,
  ],
  [
    'a Proxy as the prototype of everything',
    `let found = () => undefined; Object.setPrototypeOf(Object.prototype, null); const trap = new Proxy({}, { get(target, key, receiver) { found = (name) => receiver?.[name]; return undefined; } }); try { Object.setPrototypeOf(Array.prototype, trap); } catch {} console.log([]); return ${REACHED};`,
  ],
  [
    'Symbol.species and a subclass of Promise',
    `let found = () => undefined; class Own extends Promise { static get [Symbol.species]() { return function (executor) { found = (name) => executor.constructor('return this.' + name)(); executor(() => {}, () => {}); } } } await Own.resolve(1).then.call(Promise.resolve(1), () => {}); return ${REACHED};`,
  ],
  [
    'a thenable that is awaited',
    `let found = () => undefined; await { then(resolve) { found = (name) => resolve.constructor('return this.' + name)(); resolve(1); } }; return ${REACHED};`,
  ],
  [
    'a changed JSON, Reflect and Function.prototype.call',
    `let found = () => undefined; const steal = function (...values) { found = (name) => values.map((each) => each?.constructor?.constructor?.('return this.' + name)()).find((each) => each); return '1'; }; JSON.stringify = steal; Reflect.apply = steal; Function.prototype.call = steal; console.log({}); return ${REACHED};`,
  ],
  [
    'a host function that is called by another this',
    `const found = (name) => Reflect.apply(console.log, { process: 1 }, [])?.[name]; return ${REACHED};`,
  ],
])('%s reaches nothing of the host', async (_what, source) => {
  expect(await run(source)).toMatchObject({ json: 'false' });
});

test.each<[what: string, source: string]>([
  ['__proto__', `return JSON.parse('{"__proto__":{"polluted":1}}');`],
  ['constructor.prototype', 'return { constructor: { prototype: { polluted: 1 } } };'],
  [
    'Object.prototype',
    'Object.prototype.polluted = 1; Object.prototype.toJSON = () => ({ polluted: 1 }); return {};',
  ],
])('a value with %s changes no prototype of the host', async (_what, source) => {
  await run(source);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

test('texts of errors name no file of the host', async () => {
  const outcome = await run(
    'console.log(new Error("x").stack); const error = new Error(""); throw new Error(error.stack);',
  );
  expect(JSON.stringify(outcome)).not.toMatch(/node_modules|file:|\.ts|\.mjs|wasm/);
});

test('the log takes text alone', async () => {
  const { log } = await run(
    `console.log({ toJSON() { return { toString: () => 'x' } } }, Symbol('s'), () => 1, -0, undefined); return 1;`,
  );
  expect(log).toBe('{} Symbol(s) () => 1 0 undefined\n');
});
