import { expect, test } from 'vitest';
import { noticesOf, packagesOf } from './licenses.ts';

const MODULES = [
  'console/main.tsx',
  'node_modules/react/index.js',
  'node_modules/@tabler/icons-react/dist/esm/icons/IconMail.mjs',
  'node_modules/@tabler/icons-react/dist/esm/icons/IconBolt.mjs',
  'schemas:windlass:schemas',
];

test('the packages of modules are named once', () => {
  expect(packagesOf(MODULES)).toEqual(['@tabler/icons-react', 'react']);
});

test('the notices have the copyright and the licence of icons and libraries', async () => {
  const text = await noticesOf(MODULES);
  expect(text).toMatch(
    /@tabler\/icons-react \d+\.\d+\.\d+ \(MIT\)\n\nMIT License\n\nCopyright .* Paweł Kuna/,
  );
  expect(text).toMatch(/react \d+\.\d+\.\d+ \(MIT\)/);
});
