/** How many items code returns, as far as its text says so. */
import { expect, test } from 'vitest';
import { itemsOf } from './returned.ts';

test.each([
  ['one', "const a = 1;\nreturn [{ json: { a, b: [1, 2], c: 'return [' } }];"],
  ['one', 'return { json: {} }'],
  ['same', 'for (const item of $input.all()) { item.json.x = 1; }\nreturn $input.all();'],
  ['same', 'return items.map((item) => { if (item.json.a) return item; return { json: {} }; });'],
  [undefined, 'return [{ json: 1 }, { json: 2 }];'],
  [undefined, 'if (items.length === 0) { return [{ json: {} }]; }\nreturn [];'],
  [undefined, 'const make = () => { return { json: {} } };\nlist.push(make());'],
  [undefined, 'return items.map((item) => item).filter((item) => item.json.a);'],
  [undefined, 'items.push({ json: {} });\nreturn items;'],
  [undefined, 'const items = [1];\nreturn items;'],
  [undefined, 'return items.map((item) => ({ json: {}, pairedItem: 0 }));'],
  [undefined, 'return [{ json: 1 }].concat(items);'],
  [undefined, 'const answer = 1;'],
])('%s: %s', (count, source) => {
  expect(itemsOf(source)).toBe(count);
});
