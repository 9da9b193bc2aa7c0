import { expect, test } from 'vitest';
import { argumentsOf, defineScript } from './script.ts';

test('keys and arguments are locals by the names that they are declared with', () => {
  const script = defineScript({ keys: ['meta', 'run'], args: ['first'], body: 'return first -- why' });
  expect(script.lua).toBe(
    ['#!lua', 'local meta, run = KEYS[1], KEYS[2]', 'local first = ARGV[1]', 'return first'].join('\n'),
  );
  expect(script.sha).toMatch(/^[0-9a-f]{40}$/);
});

test('a script that drains also runs in a full memory, and no other one does', () => {
  const first = (flags?: 'drains') =>
    defineScript({ ...(flags && { flags }), keys: [], body: '' }).lua.split('\n')[0];
  expect(first('drains')).toBe('#!lua flags=allow-oom');
  expect(first()).toBe('#!lua');
});

const LISTS = defineScript({
  keys: ['meta'],
  args: ['token'],
  lists: { waits: { args: ['node', 'delay'] }, nodes: { args: ['field'], keys: ['run'] } },
  body: `
    for _, node, delay in waits() do note(node, delay) end
    for index, field, run in nodes() do note(index, field, run, keys_of_nodes(index), unpack_nodes()) end
  `,
});

test('arguments come first, then the lengths of all lists but the last, then the rows', () => {
  expect(
    argumentsOf(LISTS, {
      token: 't',
      waits: [
        ['a', 1],
        ['b', 2],
      ],
      nodes: [['n:a']],
    }),
  ).toEqual(['t', '2', 'a', 1, 'b', 2, 'n:a']);
});

test('the counts are one argument, which is empty where only the last list has rows', () => {
  expect(argumentsOf(LISTS, { token: 't', waits: [], nodes: [['n:a']] })).toEqual(['t', '', 'n:a']);
  const { lua } = defineScript({ keys: [], lists: { a: { args: ['x'] }, b: {}, c: {} }, body: '' });
  expect(lua).toContain('local a_count, b_count = 0, 0');
  expect(lua).toContain("if counts ~= '' then a_count, b_count = string.match(counts, '^(%d+),(%d+)$') end");
});

test('loops over lists read rows of arguments and keys', () => {
  const { lua } = LISTS;
  expect(lua).toContain('local token, counts = ARGV[1], ARGV[2]');
  expect(lua).toContain('local waits_first, waits_last = 3, 3 + 2 * waits_count - 1');
  expect(lua).toContain(
    'for waits_at = waits_first, waits_last, 2 do local _, node, delay = (waits_at - waits_first) / 2 + 1, ARGV[waits_at], ARGV[waits_at + 1]',
  );
  expect(lua).toContain('local nodes_first, nodes_last = waits_last + 1, #ARGV');
  expect(lua).toContain(
    'for nodes_at = nodes_first, nodes_last, 1 do local index, field, run = (nodes_at - nodes_first) / 1 + 1, ARGV[nodes_at], KEYS[(nodes_at - nodes_first) / 1 * 1 + 2]',
  );
  expect(lua).toContain('local function unpack_nodes() return unpack(ARGV, nodes_first, nodes_last) end');
  expect(lua).toContain('local function keys_of_nodes(index) return KEYS[2 + (index - 1) * 1] end');
});

test('keys that a caller may leave out come last', () => {
  const { keys, requiredKeys, lua } = defineScript({ keys: ['meta'], optionalKeys: ['items'], body: '' });
  expect({ keys, requiredKeys }).toEqual({ keys: ['meta', 'items'], requiredKeys: ['meta'] });
  expect(lua).toContain('local meta, items = KEYS[1], KEYS[2]');
});
