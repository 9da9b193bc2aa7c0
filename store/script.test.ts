import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { GATEWAY_ACCOUNT, aclUsers } from './accounts.ts';
import { defineScript } from './script.ts';

const sources = ['./', './polling/', './oauth/', './requests/', '../runs/', '../runs/record/'].flatMap(
  (folder) => {
    const base = new URL(folder, import.meta.url);
    return readdirSync(base)
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
      .map((name) => readFileSync(new URL(name, base), 'utf8'));
  },
);

test('scripts reach keys by their declared names alone, never by names that they make up', () => {
  const keys =
    'meta q held due live claims beats cancels replaced deleting out questions question wf run ev dk runs done lines reply expiring polls poll kept secret codes made'.split(
      ' ',
    );
  const calls = sources.flatMap((source) => [...source.matchAll(/redis\.call\('([A-Z]+)', ([^,)]+)/g)]);
  expect(calls.length).toBeGreaterThan(80);
  const isDeclared = (key: string) => keys.includes(key) || /^(unpack\()?KEYS\b/.test(key);
  expect(calls.filter(([, , key = '']) => !isDeclared(key)).map(([text]) => text)).toEqual([]);
});

test('scripts use no command that the accounts of pools and gateway may not', () => {
  const gateway = aclUsers()
    .split('\n')
    .find((line) => line.startsWith(`user ${GATEWAY_ACCOUNT} `));
  const allowed = new Set(gateway?.split(' ').filter((word) => word.startsWith('+')));
  const used = sources.flatMap((source) => [...source.matchAll(/redis\.p?call\('([A-Z]+)'/g)]);
  expect(used.length).toBeGreaterThan(80);
  const names = used.map(([, name = '']) => `+${name.toLowerCase()}`);
  expect([...new Set(names)].filter((name) => !allowed.has(name))).toEqual([]);
});

test('scripts subtract instead of negating, since Lua writes a negated 0 as -0, which Redis refuses as an integer', () => {
  const amounts = sources.flatMap((source) => [...source.matchAll(/'HINCRBY', [^\n]*?, (-[^\n]*)\)/g)]);
  const isConstant = (amount = '') => /^-(\d+|\$\{[A-Z_]+\})$/.test(amount);
  expect(amounts.map(([, amount]) => amount).filter((amount) => !isConstant(amount))).toEqual([]);
});

test('keys and arguments are locals by the names that they are declared with', () => {
  const script = defineScript({ keys: ['meta', 'run'], args: ['first'], body: 'return first -- why' });
  expect(script.lua).toBe(
    ['#!lua', 'local meta, run = KEYS[1], KEYS[2]', 'local first = ARGV[1]', 'return first'].join('\n'),
  );
  expect(script.sha).toMatch(/^[0-9a-f]{40}$/);
});

test('what drains also runs in a full memory, and nothing else does', () => {
  const first = (flags?: 'drains') =>
    defineScript({ ...(flags && { flags }), keys: [], body: '' }).lua.split('\n')[0];
  expect(first('drains')).toBe('#!lua flags=allow-oom');
  expect(first()).toBe('#!lua');
});
