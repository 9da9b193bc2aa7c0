import { expect, test } from 'vitest';
import { withMaximum } from './modules.ts';

const header = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];

test.each<[string, number[]]>([
  ['without a maximum', [5, 3, 1, 0, 1]],
  ['with another maximum', [5, 5, 1, 1, 1, 0x80, 0x20]],
])('a memory %s gets the maximum', async (_what, section) => {
  // Behind it stands an export of the memory as "m".
  const module = Uint8Array.from([...header, ...section, 7, 5, 1, 1, 0x6d, 2, 0]);
  const { instance } = await WebAssembly.instantiate(withMaximum(module, 300));
  const { m: memory } = instance.exports as { m: { grow(pages: number): number; buffer: ArrayBuffer } };
  expect(memory.grow(299)).toBe(1);
  expect(() => memory.grow(1)).toThrow(RangeError);
});

test('a module without a memory is refused', () => {
  expect(() => withMaximum(Uint8Array.from(header), 1)).toThrow('no memory of its own');
});
