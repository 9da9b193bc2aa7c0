/** What code sees, what it can call, and what becomes of its value and its log. */
import { describe, expect, test } from 'vitest';
import { codeRequest, never, startSandbox } from '../../test/support/nodes/codeSandbox.ts';
import type { CodeRequest } from '../contract/code.ts';
import { createSandbox } from './sandbox.ts';

const { run, valueOf } = startSandbox();

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
      await alone.execute(codeRequest(`${before} return null;`), never);
      const outcome = await alone.execute(codeRequest(source), never);
      expect('json' in outcome && JSON.parse(outcome.json)).toEqual(value);
    } finally {
      await alone.close();
    }
  });
});
