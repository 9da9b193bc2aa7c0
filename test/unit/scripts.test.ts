import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { GATEWAY_ACCOUNT, aclUsers } from '../../store/accounts.ts';
import { declaredNames, namesOf } from '../support/runStore/luaNames.ts';
import { expanded, readLuaSources } from '../support/runStore/luaSources.ts';

const { scripts, fragments } = readLuaSources();
const all = [...scripts, ...fragments.values()];
const textOf = new Map(all.map((source) => [source, expanded(source, new Map())]));
const callsOf = (pattern: RegExp) =>
  all.flatMap((source) =>
    [...(textOf.get(source) ?? '').matchAll(pattern)].map((call) => ({ source, call })),
  );

test('scripts and fragments use no name before it is declared', () => {
  const unknown = all.flatMap((source) => {
    const before = fragments.get(source.name) === source ? source.needs : declaredNames(source);
    return namesOf(source, before, fragments).unknown.map((name) => `${source.file} ${source.name}: ${name}`);
  });
  expect(unknown).toEqual([]);
});

test('fragments use each name that they need, and declare each name that they give', () => {
  const wrong = [...fragments.values()].flatMap((fragment) => {
    const { used, declared } = namesOf(fragment, fragment.needs, fragments);
    const unused = fragment.needs.filter((name) => !used.has(name)).map((name) => `does not use ${name}`);
    const missing = fragment.gives
      .filter((name) => !declared.has(name))
      .map((name) => `does not give ${name}`);
    return [...unused, ...missing].map((problem) => `${fragment.name} ${problem}`);
  });
  expect(wrong).toEqual([]);
});

test('scripts declare each key that they use, and use each key that they declare', () => {
  const wrong = scripts.flatMap((script) => {
    const { used } = namesOf(script, declaredNames(script), fragments);
    const isRest = /unpack\(KEYS, /.test(textOf.get(script) ?? '');
    return script.keys.filter((key) => !used.has(key) && !isRest).map((key) => `${script.name}: ${key}`);
  });
  expect(wrong).toEqual([]);
});

test('scripts declare the words that they answer', () => {
  const wrong = scripts.flatMap(({ name, answers, ...script }) => {
    if (!answers) return [];
    const text = expanded({ name, answers, ...script }, fragments);
    const returned = [...text.matchAll(/return \{?'([a-z-]+)'/g)].map(([, word = '']) => word);
    const undeclared = returned.filter((word) => !answers.includes(word));
    const unused = answers.filter((word) => /^[a-z-]+$/.test(word) && !text.includes(`'${word}'`));
    return [...undeclared, ...unused].map((word) => `${name}: ${word}`);
  });
  expect(wrong).toEqual([]);
});

test('scripts access keys by declared names alone, never by names that they make up', () => {
  const calls = callsOf(/redis\.call\('([A-Z]+)', ([^,)]+)/g);
  expect(calls.length).toBeGreaterThan(150);
  const names = new Set(
    scripts.flatMap(({ keys, lists }) => [...keys, ...Object.values(lists).flatMap((list) => list.keys)]),
  );
  const isDeclared = (key: string) => names.has(key) || key === 'unpack(KEYS';
  expect(calls.filter(({ call }) => !isDeclared(call[2] ?? '')).map(({ call }) => call[0])).toEqual([]);
});

test('scripts read fields by name, never by their position in an answer', () => {
  const positions = callsOf(/\b(?!KEYS|ARGV|time|head|listed|counts|rest|others|trimmed)[a-z_]+\[\d+\]/g);
  expect(positions.map(({ source, call }) => `${source.name}: ${call[0]}`)).toEqual([]);
  expect(callsOf(/ARGV\[/g)).toEqual([]);
});

test('scripts use no command that the accounts of pools and gateway may not', () => {
  const gateway = aclUsers()
    .split('\n')
    .find((line) => line.startsWith(`user ${GATEWAY_ACCOUNT} `));
  const allowed = new Set(gateway?.split(' ').filter((word) => word.startsWith('+')));
  const used = callsOf(/redis\.p?call\('([A-Z]+)'/g).map(({ call }) => `+${call[1]?.toLowerCase()}`);
  expect(used.length).toBeGreaterThan(150);
  expect([...new Set(used)].filter((name) => !allowed.has(name))).toEqual([]);
});

test('scripts subtract instead of negating, because Lua writes a negated 0 as -0, which Redis refuses as an integer', () => {
  const amounts = callsOf(/'HINCRBY', [^\n]*?, (-[^\n]*)\)/g).map(({ call }) => call[1] ?? '');
  expect(amounts.filter((amount) => !/^-\d+$/.test(amount))).toEqual([]);
});

test('a script fits on a screen', () => {
  const lines = all.map((source) => ({
    name: source.name,
    lines: source.pieces
      .map((piece) => ('text' in piece ? piece.text : ''))
      .join('')
      .trim()
      .split('\n').length,
  }));
  expect(lines.filter((source) => source.lines > 72)).toEqual([]);
});

/** `TAKE_OVER` → `takeOver`. */
const inCamelCase = (name: string) =>
  name.toLowerCase().replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

test('the diagram of docs/execution.md has the transitions that the scripts declare', () => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/execution.md'), 'utf8');
  const drawn = [...text.matchAll(/^ {2}(\w+) --> (\w+): (.+)$/gm)].flatMap(([, from, to, names = '']) =>
    names.split(', ').map((name) => `${name}: ${from} > ${to}`),
  );
  const declared = scripts.flatMap(({ name, transitions }) =>
    transitions.map((move) => `${inCamelCase(name)}: ${move}`),
  );
  expect(drawn.toSorted()).toEqual(declared.toSorted());
});
