import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../../../scripts/run.ts';

type Entry = {
  version?: string;
  integrity?: string;
  resolved?: string;
  optionalDependencies?: Record<string, string>;
};

const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, Entry>;
};
const entries = Object.entries(lock.packages).filter(([path]) => path !== '');

test('package-lock.json has the hash of every package, so that npm ci takes no other bytes', () => {
  expect(entries.length).toBeGreaterThan(100);
  const without = entries.filter(([, { integrity = '' }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity));
  expect(without.map(([path]) => path)).toEqual([]);
});

test('package-lock.json has the packages of all platforms, and names no registry', () => {
  const optional = entries.flatMap(([, { optionalDependencies = {} }]) => Object.keys(optionalDependencies));
  expect(optional.filter((name) => lock.packages[`node_modules/${name}`] === undefined)).toEqual([]);
  expect(entries.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
});
