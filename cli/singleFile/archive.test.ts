import { expect, test } from 'vitest';
import { packFiles, unpackFiles } from './archive.ts';

test('files are the same after they were packed into one line', () => {
  const files = [
    { path: 'a.mjs', content: Buffer.from('let a;\n*/ // ü') },
    { path: 'b/c.wasm', content: Buffer.from([0, 10, 255]) },
    { path: 'empty', content: Buffer.alloc(0) },
  ];
  const text = packFiles(files);
  expect(text).toMatch(/^[\w+/=]+$/);
  expect(unpackFiles(text).map(({ path, content }) => ({ path, content: Buffer.from(content) }))).toEqual(
    files,
  );
});
