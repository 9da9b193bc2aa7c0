import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  ExactNumber,
  fromBigInt,
  isSameNumber,
  joinExact,
  parseExact,
  rounded,
  splitExact,
  toScriptValue,
} from './exactNumber.ts';

const DIGITS = '12345678901234567890';
const DECIMAL = '0.1000000000000000055511151231257827';

// What JSONTestSuite lists as accepted or implementation-defined, and more.
test.each([
  // As written, as written back by JSON.stringify.
  ['0', '0'],
  ['-0', '0'],
  ['-0.0', '0'],
  ['-0e+1', '0'],
  ['0e1', '0'],
  ['0e99999999999999999999', '0'],
  ['0.0000000000000000000000', '0'],
  ['1.10', '1.1'],
  ['0.1', '0.1'],
  ['123', '123'],
  ['20e1', '200'],
  ['1E22', '1e+22'],
  ['1E+2', '100'],
  ['1E-2', '0.01'],
  ['123.456e78', '1.23456e+80'],
  ['123.456789', '123.456789'],
  ['9007199254740991', '9007199254740991'],
  ['9007199254740992', '9007199254740992'],
  ['1700000000000000', '1700000000000000'],
  ['100000000000000000000', '100000000000000000000'],
  ['1000000000000000000000000', '1e+24'],
  ['1.7976931348623157e308', '1.7976931348623157e+308'],
  ['5e-324', '5e-324'],
  ['0.30000000000000004', '0.30000000000000004'],
  ['2.50000000000000000000000000', '2.5'],
])('%s stays a number, written as %s', (text, written) => {
  const value = parseExact(text);
  expect(typeof value).toBe('number');
  expect(JSON.stringify(value)).toBe(written);
});

test.each([
  '9007199254740993',
  '-9007199254740993',
  '9223372036854775807',
  DIGITS,
  '-237462374673276894279832749832423479823246327846',
  DECIMAL,
  '-0.000000000000000000000000000000000000000000000000000000000000000000000000000001234567890123456789',
  '0.10000000000000001',
  '1.00000000000000001e2',
  '123e-10000000',
  '1E-999',
  '1e400',
  '-1e+9999',
  '123123e100000',
  '0.4e00669999999999999999999999999999999999999999999999999999999999999999999999969999999006',
  '9'.repeat(400),
  `0.${'3'.repeat(400)}`,
])('%s keeps every digit, at every place', (text) => {
  const exact = new ExactNumber(text);
  expect(parseExact(text)).toEqual(exact);
  expect(parseExact(` ${text}\n`)).toEqual(exact);
  expect(parseExact(`[${text},{"a":${text},"b":[[${text}]]},1]`)).toEqual([
    exact,
    { a: exact, b: [[exact]] },
    1,
  ]);
  expect(JSON.stringify({ a: [parseExact(text)] })).toBe(`{"a":[${text}]}`);
  expect(`no. ${exact.toString()}`).toBe(`no. ${text}`);
});

test.each([
  ['two points', '1.2.3456789012345678'],
  ['two signs', '--12345678901234567890'],
  ['a leading zero', '01234567890123456789'],
  ['no digits behind the point', '12345678901234567890.'],
  ['no exponent', '12345678901234567890e'],
  ['a number as a key', '{12345678901234567890:1}'],
  ['a number next to a text', '12345678901234567890"a"'],
  ['a number that ends in letters', '12345678901234567890abc'],
  ['an unclosed list', '[12345678901234567890'],
])('%s is refused as JSON.parse refuses it', (_, text) => {
  expect(() => JSON.parse(text)).toThrow(SyntaxError);
  expect(() => parseExact(text)).toThrow(SyntaxError);
});

test.each([
  String.raw`["\u00010"]`,
  String.raw`[ "\u00010" , 1]`,
  String.raw`["\u0001\u00010"]`,
  String.raw`{"\u0001":"\u00010"}`,
  String.raw`["a",["\u0001"]]`,
])('the text %s beside an exact number is no number', (text) => {
  expect(parseExact(`{"texts":${text},"number":${DIGITS}}`)).toEqual({
    texts: JSON.parse(text),
    number: new ExactNumber(DIGITS),
  });
});

test('digits in texts and keys stay text', () => {
  const text = `{"${DIGITS}":"${DIGITS}","a":"\\"${DIGITS}"}`;
  expect(parseExact(text)).toEqual(JSON.parse(text));
});

test('a key __proto__ beside an exact number sets no prototype', () => {
  const value = parseExact(`{"__proto__":{"a":${DIGITS}}}`) as object;
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  expect(JSON.stringify(value)).toBe(`{"__proto__":{"a":${DIGITS}}}`);
});

test('whatever numbers are written, their values come back', () => {
  const digits = fc.stringMatching(/^\d{1,40}$/);
  const number = fc
    .tuple(
      fc.constantFrom('', '-'),
      fc.bigInt({ min: 0n, max: 10n ** 40n }),
      fc.option(digits),
      fc.option(fc.integer({ min: -400, max: 400 })),
    )
    .map(
      ([sign, whole, fraction, exponent]) =>
        `${sign}${whole}${fraction === null ? '' : `.${fraction}`}${exponent === null ? '' : `e${exponent}`}`,
    );
  fc.assert(
    fc.property(fc.array(number, { minLength: 1 }), (list) => {
      const written = JSON.stringify(parseExact(`[${list.join()}]`));
      const back = written.slice(1, -1).split(',');
      expect(back.map((text, index) => sameValue(text, list[index] ?? ''))).not.toContain(false);
    }),
  );
});

test('JSON without such numbers is read as JSON.parse reads it', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), (text) => {
      expect(rounded(parseExact(text))).toEqual(JSON.parse(text));
    }),
  );
});

/** By integer arithmetic, which our own comparison does not use. */
function sameValue(a: string, b: string): boolean {
  const [x, y] = [fractionOf(a), fractionOf(b)];
  const least = Math.min(x.power, y.power);
  return x.digits * 10n ** BigInt(x.power - least) === y.digits * 10n ** BigInt(y.power - least);
}

function fractionOf(text: string): { digits: bigint; power: number } {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), power: Number(exponent) - fraction.length };
}

test('numbers are compared by value', () => {
  expect(isSameNumber(new ExactNumber('12345678901234567890.0'), new ExactNumber(DIGITS))).toBe(true);
  expect(isSameNumber(new ExactNumber('1.2345678901234567890e19'), new ExactNumber(DIGITS))).toBe(true);
  expect(isSameNumber(new ExactNumber('1e-99999999999999999999'), new ExactNumber('1e-9'))).toBe(false);
  expect(isSameNumber(new ExactNumber('9007199254740993'), 9_007_199_254_740_993n)).toBe(true);
  expect(isSameNumber(new ExactNumber('9007199254740993'), 9_007_199_254_740_992)).toBe(false);
  expect(isSameNumber(new ExactNumber(`-${DIGITS}`), new ExactNumber(DIGITS))).toBe(false);
});

test('an exact number cannot be changed', () => {
  const number = new ExactNumber(DIGITS);
  expect(() => Object.assign(number, { text: '1' })).toThrow(TypeError);
  expect(() => new ExactNumber('1,2')).toThrow(SyntaxError);
});

test('integers become BigInt in code and come back, other numbers become text', () => {
  expect(toScriptValue(new ExactNumber(DIGITS))).toBe(BigInt(DIGITS));
  expect(toScriptValue(new ExactNumber(DECIMAL))).toBe(DECIMAL);
  expect(toScriptValue(new ExactNumber('1e400'))).toBe('1e400');
  expect(fromBigInt(BigInt(DIGITS))).toEqual(new ExactNumber(DIGITS));
  expect(fromBigInt(-7n)).toBe(-7);
});

test('a record has the nearest numbers that the API server accepts, and the digits by pointer', () => {
  const data = parseExact(
    `{"a/b":[1,${DIGITS}],"~":{"int64":-9223372036854775808},"huge":${'9'.repeat(400)},"c":${DECIMAL}}`,
  );
  const split = splitExact(data);
  expect(JSON.stringify(split.data)).toBe(
    '{"a/b":[1,12345678901234567000],"~":{"int64":-9223372036854775808},"huge":1.7976931348623157e+308,"c":0.1}',
  );
  expect(split.exact).toEqual({
    '/data_content/a~1b/1': DIGITS,
    '/data_content/~0/int64': '-9223372036854775808',
    '/data_content/huge': '9'.repeat(400),
    '/data_content/c': DECIMAL,
  });
  expect(joinExact(JSON.parse(JSON.stringify(split.data)), split.exact)).toEqual(data);
  expect(splitExact(parseExact(DIGITS)).exact).toEqual({ '/data_content': DIGITS });
});

test('data without exact numbers is recorded as it is', () => {
  const data = { a: [1, 2.5, 'x', null] };
  expect(splitExact(data)).toEqual({ data });
  expect(splitExact(data).data).toBe(data);
  expect(joinExact(data, undefined)).toBe(data);
});

test.each([
  ['leads nowhere', { '/data_content/x': DIGITS }],
  ['leads to a text', { '/data_content/text': DIGITS }],
  ['is no pointer', { __proto__: DIGITS, 'data_content/a': DIGITS }],
  ['has no number', { '/data_content/a': 'NaN' }],
  ['has too many digits', { '/data_content/a': '9'.repeat(1_001) }],
  ['has an exponent that no memory can expand', { '/data_content/a': '1e-999999999' }],
])('an entry that %s is ignored', (_, exact) => {
  expect(joinExact({ a: 1, text: 'x' }, exact as Record<string, string>)).toEqual({ a: 1, text: 'x' });
});

test('a long key above many exact numbers costs no copy of the key for each of them', () => {
  const data = parseExact(`{"${'k'.repeat(250_000)}":[${Array(2_000).fill(DIGITS).join()}]}`);
  const { data: rest, exact = {} } = splitExact(data);
  expect(Object.keys(exact).length).toBeLessThan(10);
  expect(JSON.stringify(exact).length).toBeGreaterThan(1_048_576);
  expect(JSON.stringify(rest)).not.toContain(DIGITS);
});

test('numbers below a long key are restored without a copy of the key for each of them', () => {
  const key = 'k'.repeat(250_000);
  const numbers = Array.from({ length: 100_000 }, (_, index) => index);
  const exact = { [`/data_content/${key}/99999`]: DIGITS };
  const started = performance.now();
  const joined = joinExact({ [key]: numbers }, exact) as Record<string, unknown[]>;
  expect(performance.now() - started).toBeLessThan(1_000);
  expect(joined[key]?.slice(-2)).toEqual([99_998, parseExact(DIGITS)]);
});
