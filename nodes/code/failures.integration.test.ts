/** How code fails: with its reason, and a message that says where and what to do. */
import { expect, test } from 'vitest';
import { startSandbox } from '../../test/support/nodes/codeSandbox.ts';
import type { CodeRequest } from '../contract/code.ts';

const { run, valueOf } = startSandbox();

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
