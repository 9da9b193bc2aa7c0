import { expect, test } from 'vitest';
import { parseExact } from '../../api/exact/exactNumber.ts';
import { stepContext } from '../../test/support/nodes/stepContext.ts';
import { findSkill, validateSkill } from '../register.ts';

/** Executes the skill where the keys `seen` are known. Gives the output and the keys to remember. */
async function execute(parameters: object, seen: readonly string[] = []) {
  const asked: string[][] = [];
  const isSeen = async (keys: readonly string[]) => {
    asked.push([...keys]);
    return keys.map((key) => seen.includes(key));
  };
  const result = await findSkill('remove_duplicates')?.execute(
    parameters,
    stepContext({}, { isSeen }),
    undefined,
  );
  return { asked, ...result };
}

const ORDERS = [
  { id: 1, lines: [{ sku: 'a' }], 'any key': 'x' },
  { id: 2, lines: [{ sku: 'b' }], 'any key': 'y' },
  { id: 1, lines: [{ sku: 'c' }], 'any key': 'x' },
];

test('items that an earlier run or an earlier item has passed are left out, in order', async () => {
  const { output, remember, asked } = await execute({ items: ORDERS, key: 'id', ttl: '2h', limit: 10 }, [
    '2',
  ]);
  expect(output).toEqual({
    text_content: '1 of 3 items are new.',
    data_content: { items: [ORDERS[0]], count: 1, duplicates: 2 },
  });
  expect(asked).toEqual([['1', '2']]);
  expect(remember).toEqual({ keys: ['1'], ttlMs: 7_200_000, limit: 10 });
});

test.each([
  ['lines[0].sku', ['"a"', '"b"', '"c"']],
  ["['any key']", ['"x"', '"y"']],
  ['id', ['1', '2']],
])('the key %s is read from each item', async (key, keys) => {
  expect((await execute({ items: ORDERS, key })).remember?.keys).toEqual(keys);
});

test.each<[string, unknown[], number]>([
  [
    'the order of members makes no difference',
    [
      { a: 1, b: [2] },
      { b: [2], a: 1 },
    ],
    1,
  ],
  ['a number and its text are different', [1, '1'], 2],
  ['a list and an object are different', [['a'], { 0: 'a' }, { entries: [['0', 'a']] }], 3],
  [
    'exact numbers are compared by value, whatever their spelling',
    parseExact('[12345678901234567890,12345678901234567891,1.2345678901234567890e19]') as unknown[],
    2,
  ],
  ['false and an empty text are keys', [false, ''], 2],
])('%s', async (_, items, count) => {
  expect((await execute({ items })).output?.data_content).toMatchObject({ count });
});

test('without items, or without new ones, nothing is remembered', async () => {
  const empty = await execute({ items: [] });
  expect(empty.output?.data_content).toEqual({ items: [], count: 0, duplicates: 0 });
  expect(empty.asked).toEqual([]);
  expect(empty).not.toHaveProperty('remember');
  expect(await execute({ items: ['a'] }, ['"a"'])).not.toHaveProperty('remember');
});

test.each<[string, object, string]>([
  [
    'an item without the key',
    { items: [{ id: 1 }, { no: 2 }], key: 'id' },
    'the key of items[1] does not exist',
  ],
  ['a key that is null', { items: [{ id: null }], key: 'id' }, 'the key of items[0] is null'],
  ['an item that is null', { items: [1, null] }, 'items[1] is null'],
  ['an item that is no object', { items: ['a'], key: 'length' }, 'the key of items[0] does not exist'],
  ['items that are no list', { items: { a: 1 } }, 'items: must be a list'],
  ['too many items', { items: Array<number>(10_001).fill(1) }, 'items: may have at most 10000 items'],
  ['more items than the limit', { items: [1, 2], limit: 1 }, 'limit: is less than the number of items'],
  ['a limit beyond the bound', { items: [], limit: 100_001 }, 'limit: '],
  ['a ttl that is no duration', { items: [], ttl: 'soon' }, 'ttl: must be a duration from 1m to 365d'],
  ['a ttl beyond the bounds', { items: [], ttl: '366d' }, 'ttl: must be a duration from 1m to 365d'],
  ['a key that is no path', { items: [], key: 'a b' }, 'key: must be the path of a member'],
  [
    'a key that ends the reference',
    { items: [], key: "id }}{{ $('a').text_content" },
    'key: must be the path of a member',
  ],
  ['an empty key', { items: [], key: '' }, 'key: must be the path of a member'],
  ['no items', {}, 'items: is missing'],
])('%s fails with a message that names the place', async (_, parameters, message) => {
  const failing = execute(parameters);
  await expect(failing).rejects.toMatchObject({ reason: 'InvalidParameters' });
  await expect(failing).rejects.toThrow(message);
});

test('what is written wrong is found when the workflow is applied', () => {
  expect(
    validateSkill('remove_duplicates', { items: "{{ $('trigger').data_content }}", key: 'a..b' }),
  ).toEqual(['key: must be the path of a member, such as id, customer.email or lines[0].sku']);
});
