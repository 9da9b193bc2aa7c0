/** Numbers that a double cannot represent. */
import { expect, test } from 'vitest';
import { errorOf } from '../../test/support/data/outcome.ts';
import { valueOf } from '../../test/support/data/orderScope.ts';
import { parseExact } from '../exact/exactNumber.ts';
import type { Scope } from '../expression/scope.ts';

const EXACT: Scope = {
  node: () => ({
    text_content: '',
    data_content: parseExact(`{
      "big": 12345678901234567890, "same": 1.2345678901234567890e19, "mid": 9007199254740993,
      "decimal": 0.1000000000000000055511151231257827, "n": 5, "text": "12345678901234567890",
      "list": [12345678901234567890, 1], "o": {"constructor": 1, "big": 12345678901234567890}
    }`),
  }),
};
const exactValue = (source: string) =>
  JSON.stringify(valueOf(source.replaceAll('$', 'nodes.a.data_content.'), EXACT));

test.each([
  ['$big', '12345678901234567890'],
  ['{"a": [$decimal]}', '{"a":[0.1000000000000000055511151231257827]}'],
  ['$o.big', '12345678901234567890'],
  ['$big == $same', 'true'],
  ['$big != $same', 'false'],
  ['$big == $mid', 'false'],
  ['$mid == 9007199254740993', 'true'],
  ['9007199254740993 == $mid', 'true'],
  ['$mid == 9007199254740992', 'false'],
  ['$big == 12345678901234567000.0', 'false'],
  ['0.1 == $decimal', 'false'],
  ['$n == $big', 'false'],
  ['$big == $text', 'false'],
  ['$big == null', 'false'],
  ['$big in $list', 'true'],
  ['$list == $list', 'true'],
  ['$mid in [9007199254740993]', 'true'],
  ['9007199254740993 in [$mid]', 'true'],
  ['[$mid] == [9007199254740993]', 'true'],
  ['{"a": $mid} != {"a": 9007199254740992}', 'true'],
  ['$list.map(x, x == $big)', '[true,false]'],
  ['string($big) == $text', 'true'],
  ['double($decimal)', '0.1'],
  ['has($big.text)', 'false'],
  ['9007199254740993', '9007199254740993'],
])('%s yields %s: no digit of an exact number is lost', (source, value) => {
  expect(exactValue(source)).toBe(value);
});

test.each([
  '$big + 1',
  '1.5 * $decimal',
  '-$big',
  '$n - $big',
  '$big < $mid',
  '$decimal >= 0',
  '"a" + $big',
  'int($mid)',
  '$list.map(x, x + 1)',
])('%s fails and says what an exact number allows, not its digits', (source) => {
  const { code, message } = errorOf(() => exactValue(source));
  expect(code).toBe('Type');
  expect(message).toContain('only == and != are exact, string(…) gives its digits, and double(…) rounds it');
  expect(message).not.toMatch(/\d{6}/);
});

test('an exact number has no members', () => {
  expect(errorOf(() => exactValue('$big.text')).message).toContain('big is a number and has no .text');
});
