import { expect, test } from 'vitest';
import type { Reason } from '../../api/conditions.ts';
import { isConditionTrue, setCondition } from '../../kube/conditions.ts';
import { withStalled } from './conditions.ts';

const now = new Date('2026-01-02T03:04:05Z');

const conditions = (reason: Reason) =>
  setCondition([], { type: 'Ready', status: 'False', reason, message: 'No.', observedGeneration: 3 }, now);

test.each<[reason: Reason, isStalled: boolean]>([
  ['NoAllowedHosts', true],
  ['SecretMissing', false],
  ['KeyMissing', false],
  ['Rejected', false],
  ['Unreachable', false],
  ['NotConnected', false],
  ['Unauthorized', false],
])('a credential that is not ready because of %s is Stalled: %s', (reason, isStalled) => {
  const list = withStalled(conditions(reason), now);
  expect(isConditionTrue(list, 'Stalled', 3)).toBe(isStalled);
});

test('a credential is not Stalled any more once its spec has changed, and nothing new gives the same list', () => {
  const stalled = withStalled(conditions('NoAllowedHosts'), now);
  expect(withStalled(stalled, new Date('2026-02-02T00:00:00Z'))).toBe(stalled);
  const checked = setCondition(
    stalled,
    { type: 'Ready', status: 'True', reason: 'Checked', message: '' },
    now,
  );
  expect(withStalled(checked, now).map(({ type }) => type)).toEqual(['Ready']);
});
