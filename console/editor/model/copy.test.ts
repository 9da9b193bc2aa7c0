import { expect, test } from 'vitest';
import { draftOf } from './annotation.ts';
import { copyOf } from './copy.ts';
import type { Draft } from './model.ts';

const draft: Draft = {
  spec: { active: true, suspend: true, displayName: 'Orders', nodes: [{ id: 'a', manual: {} }] },
  positions: { a: { x: 700, y: 70 } },
  notes: { n1: { text: 'Ask Ada', x: 10, y: 20, width: 200, height: 100, color: 'yellow' } },
};

test('a copy has the positions and notes of the original and its own name, and is inactive', () => {
  const { name, marks, spec } = copyOf(draft, { name: 'orders-copy', title: 'Orders (copy)' });
  const { positions, notes } = draftOf({ metadata: { name, ...marks }, spec });
  expect({ positions, notes }).toEqual({ positions: draft.positions, notes: draft.notes });
  expect(spec).toEqual({ active: false, displayName: 'Orders (copy)', nodes: draft.spec.nodes });
});
