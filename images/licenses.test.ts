import { expect, test } from 'vitest';
import { noticesOf, packagesOf } from './licenses.ts';

const MODULES = [
  'console/main.tsx',
  'node_modules/react/index.js',
  'node_modules/@tabler/icons-react/dist/esm/icons/IconMail.mjs',
  'node_modules/@tabler/icons-react/dist/esm/icons/IconBolt.mjs',
  'schemas:windlass:schemas',
];

test('the packages of modules are named once, also inside of others', () => {
  const nested = [
    '../w/node_modules/a/node_modules/@b/c/index.js',
    'node_modules/a/dist/node_modules/d/d.js',
  ];
  expect(packagesOf([...MODULES, ...nested, ...nested])).toEqual([
    'node_modules/react',
    'node_modules/@tabler/icons-react',
    'node_modules/a/node_modules/@b/c',
    'node_modules/a/dist/node_modules/d',
  ]);
});

test('the notices have the copyright and the licence of icons and libraries', async () => {
  const text = await noticesOf(MODULES);
  expect(text).toMatch(
    /@tabler\/icons-react \d+\.\d+\.\d+ \(MIT\)\n\nMIT License\n\nCopyright .* Paweł Kuna/,
  );
  expect(text).toMatch(/react \d+\.\d+\.\d+ \(MIT\)/);
});
