import { expect, test } from 'vitest';
import { isInDialog } from './focus.ts';

const inside = (selector: string) => ({
  closest: (asked: string) => (asked === selector ? ({} as Element) : null),
});

test('only a dialog that covers the page keeps the focus', () => {
  expect(isInDialog(inside('[aria-modal="true"]'))).toBe(true);
  expect(isInDialog(inside('[role="dialog"]'))).toBe(false);
  expect(isInDialog(null)).toBe(false);
});
