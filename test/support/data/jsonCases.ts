/**
 * What RFC 8259 says of JSON, a case for each rule: what every parser must accept, what none may, and what it
 * leaves open, of which we accept what all programs read in the same way.
 */
import { JSON_LIMITS } from '../../../api/json.ts';

const nested = (depth: number, open = '[', close = ']') => open.repeat(depth) + close.repeat(depth);
const SUPER_TAB = String.fromCharCode(0x0b);
const BOM = String.fromCharCode(0xfeff);

/** Valid, or left open and accepted. */
export const ACCEPTED: [rule: string, text: string][] = [
  ['an object', '{"a":1}'],
  ['an empty object', '{}'],
  ['a list', '[1,"a",null]'],
  ['an empty list', '[]'],
  ['a text at top level', '"a"'],
  ['an empty text', '""'],
  ['a number at top level', '7'],
  ['true, false and null at top level', 'true'],
  ['null at top level', 'null'],
  ['the four kinds of white space', ' \t\r\n{ "a" :\n1 }\r\n'],
  ['minus zero', '-0'],
  ['a number that is smaller than any double', '1E-999'],
  ['an integer that a double rounds', '10000000000000000999'],
  ['an integer with 400 digits', '9'.repeat(400)],
  ['a decimal with 400 digits', `-0.${'3'.repeat(398)}`],
  ['as many digits as the limit', '9'.repeat(1_000)],
  ['the largest double', '1.7976931348623157e308'],
  ['an exponent with a sign', '[1e+2,1E-2]'],
  ['every short escape', String.raw`"\" \\ \/ \b \f \n \r \t"`],
  ['an escaped control character', String.raw`"\u0000\u001f"`],
  ['a surrogate pair in escapes', String.raw`"\ud83d\ude00"`],
  ['an escaped text that only looks like a surrogate', String.raw`"\\ud800"`],
  ['any Unicode in UTF-8', '{"größe":"\u{1f600} 漢 \u2028"}'],
  ['DEL and the characters of Latin-1', '"\u007f\u0080\u00ff"'],
  ['braces, colons and quotes inside a text', String.raw`{"a":"{\"b\":[1,2]}:,"}`],
  ['a text that ends in escaped backslashes', String.raw`{"a":"\\\\","b":"\\\""}`],
  ['the same key in different objects', '{"a":{"a":1},"b":[{"a":1},{"a":2}]}'],
  ['keys that differ in case or are empty', '{"a":1,"A":2,"":3}'],
  ['constructor as a key', '{"constructor":"Acme","prototype":1}'],
  ['constructor as a key of an object without prototype', '{"constructor":{"name":"Acme"}}'],
  ['the forbidden words as values', '["__proto__","prototype"]'],
  ['numbers as keys', '{"0":1,"1":2,"-1":3}'],
  ['lists 64 deep', nested(64)],
  ['objects 64 deep', `${'{"a":'.repeat(63)}{}${'}'.repeat(63)}`],
  ['many lists beside one another', `[${Array(1000).fill('[[]]').join()}]`],
];

/** Not valid. */
export const BAD: [rule: string, text: string][] = [
  ['nothing', ''],
  ['white space alone', ' \n'],
  ['an unclosed object', '{"a":1'],
  ['an unclosed list', '[1'],
  ['an unclosed text', '"a'],
  ['a text that ends in a backslash', '"a\\'],
  ['two values', '{} {}'],
  ['a trailing comma in a list', '[1,]'],
  ['a trailing comma in an object', '{"a":1,}'],
  ['a missing comma', '[1 2]'],
  ['a missing colon', '{"a" 1}'],
  ['a comma in place of a colon', '{"a",1}'],
  ['a lone comma', '[,1]'],
  ['mismatched brackets', '[1}'],
  ['a closing bracket alone', ']'],
  ['a key that is no text', '{1:2}'],
  ['a key without quotes', '{a:1}'],
  ['single quotes', "{'a':1}"],
  ['a leading zero', '01'],
  ['a plus sign', '+1'],
  ['a number without digits before the point', '.5'],
  ['a number without digits behind the point', '1.'],
  ['an exponent without digits', '1e'],
  ['a hexadecimal number', '0x10'],
  ['NaN', 'NaN'],
  ['Infinity', '-Infinity'],
  ['undefined', 'undefined'],
  ['True', 'True'],
  ['an unescaped line break in a text', '"a\nb"'],
  ['an unescaped NUL in a text', '"\u0000"'],
  ['an unknown escape', String.raw`"\x41"`],
  ['an escape with three digits', String.raw`"\u041"`],
  ['a comment', '/* a */ 1'],
  ['a vertical tab as white space', `${SUPER_TAB}1`],
  ['a byte order mark', `${BOM}{}`],
];

/** Not valid as bytes (section 8.1). */
export const BAD_BYTES: [rule: string, bytes: number[]][] = [
  ['a byte that no UTF-8 has', [0x22, 0xff, 0x22]],
  ['a continuation byte alone', [0x22, 0x80, 0x22]],
  ['a sequence that is cut off', [0x22, 0xe2, 0x82, 0x22]],
  ['an overlong slash', [0x22, 0xc0, 0xaf, 0x22]],
  ['a surrogate in UTF-8', [0x22, 0xed, 0xa0, 0x80, 0x22]],
  ['a code point beyond the last', [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22]],
  ['UTF-16', [0x7b, 0x00, 0x7d, 0x00]],
  ['UTF-16 with a byte order mark', [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]],
];

/**
 * Valid or left open, and read by programs in different ways, or above a limit; with the code of the problem.
 */
export const REFUSED: [rule: string, text: string, code: string][] = [
  ['lists 65 deep', nested(65), 'too-deep'],
  ['objects 65 deep', `${'{"a":'.repeat(64)}{}${'}'.repeat(64)}`, 'too-deep'],
  ['a million lists in one another', nested(1_000_000), 'too-deep'],
  ['a million opening brackets', '['.repeat(1_000_000), 'too-deep'],
  ['more values than the limit', `[${'0,'.repeat(JSON_LIMITS.maxTokens)}0]`, 'too-complex'],
  ['more keys in one object than the limit', objectOf(JSON_LIMITS.maxKeys + 1), 'too-complex'],
  ['__proto__ as a key', '{"__proto__":{"admin":true}}', 'forbidden-key'],
  ['__proto__ deep inside', '[{"a":[{"__proto__":null}]}]', 'forbidden-key'],
  ['__proto__ in escapes', String.raw`{"\u005f_proto_\u005f":1}`, 'forbidden-key'],
  ['constructor that holds prototype', '{"constructor":{"prototype":{"admin":true}}}', 'forbidden-key'],
  [
    'constructor that holds prototype deep inside',
    '{"a":[{"constructor":{"x":1,"prototype":1}}]}',
    'forbidden-key',
  ],
  ['constructor in escapes', String.raw`{"\u0063onstructor":{"protot\u0079pe":1}}`, 'forbidden-key'],
  ['a key twice', '{"a":1,"a":2}', 'duplicate-key'],
  ['a key twice with the same value', '{"a":1,"b":2,"a":1}', 'duplicate-key'],
  ['a key twice in an inner object', '[{"x":{"a":{},"a":[]}}]', 'duplicate-key'],
  ['a key twice, once in escapes', String.raw`{"a":1,"\u0061":2}`, 'duplicate-key'],
  ['a key twice beside a text with colons', '{"t":"::","a":1,"a":2}', 'duplicate-key'],
  ['a number beyond the largest double', '1e400', 'number-out-of-range'],
  ['a number below the smallest double', '{"a":[-1e400]}', 'number-out-of-range'],
  ['a negative exponent that no memory can expand', '{"a":[1e-999999999]}', 'number-out-of-range'],
  ['an exponent below the limit', '[-1.5E-1001]', 'number-out-of-range'],
  ['more digits than the limit', '9'.repeat(1_001), 'number-out-of-range'],
  ['more decimals than the limit', `0.${'3'.repeat(999)}`, 'number-out-of-range'],
  ['an exponent that no memory can expand', '[1e999999999]', 'number-out-of-range'],
  ['a number with a million digits', '9'.repeat(1_000_000), 'number-out-of-range'],
  ['a high surrogate alone', String.raw`"\ud800"`, 'lone-surrogate'],
  ['a low surrogate alone', String.raw`["a\uDC00"]`, 'lone-surrogate'],
  ['two high surrogates', String.raw`"\ud800\ud800"`, 'lone-surrogate'],
  ['surrogates in the wrong order', String.raw`"\ude00\ud83d"`, 'lone-surrogate'],
  ['a lone surrogate in a key', String.raw`{"\ud800":1}`, 'lone-surrogate'],
];

export function objectOf(keys: number): string {
  return `{${Array.from({ length: keys }, (_, index) => `"k${index}":0`).join()}}`;
}
