import { expect, test } from 'vitest';
import { draftOf } from './annotation.ts';
import { copyOf } from './copy.ts';
import type { Draft } from './model.ts';

const draft: Draft = {
  spec: { active: true, suspend: true, displayName: 'n'.repeat(250), nodes: [{ id: 'a', manual: {} }] },
  positions: { a: { x: 700, y: 70 } },
  notes: { n1: { text: 'Ask Ada', x: 10, y: 20, width: 200, height: 100, color: 'yellow' } },
};

test('a copy has the positions and notes of the original, a name that fits, and is inactive', () => {
  const { name, marks, spec } = copyOf(draft, { name: 'orders-copy', original: 'orders' });
  const { positions, notes } = draftOf({ metadata: { name, ...marks }, spec });
  expect({ positions, notes }).toEqual({ positions: draft.positions, notes: draft.notes });
  expect(spec).toEqual({ active: false, displayName: `${'n'.repeat(250)} (copy`, nodes: draft.spec.nodes });
});

test('a copy without a display name is called by the name of the original', () => {
  const { displayName: _none, ...spec } = draft.spec;
  const copy = copyOf({ ...draft, spec }, { name: 'orders-copy', original: 'orders' });
  expect(copy.spec.displayName).toBe('orders (copy)');
});
