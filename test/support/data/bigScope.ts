/** The largest data that expressions can read, in shapes that make work. */
import type { Scope } from '../../../api/expression/scope.ts';

export const numbers = Array.from({ length: 50_000 }, (_, index) => index);
const text = 'a'.repeat(500_000);
export const BIG: Scope = {
  node: () => ({
    text_content: text,
    data_content: {
      numbers,
      objects: numbers.slice(0, 10_000).map((value) => ({ value, inner: { list: [value] } })),
      wide: Object.fromEntries(numbers.slice(0, 10_000).map((value) => [`k${value}`, value])),
      needle: `${'a'.repeat(1000)}b${'a'.repeat(200_000)}`,
    },
  }),
};
