import { expect, test } from 'vitest';
import { draftList, expiredDrafts, type DraftMetadata } from './removal.ts';

const now = new Date('2026-06-01T00:00:00Z');
const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000).toISOString();
const draft = (created: number, ...changed: number[]): DraftMetadata => ({
  name: 'orders',
  uid: 'u',
  resourceVersion: '1',
  creationTimestamp: daysAgo(created),
  managedFields: changed.map((days) => ({ time: daysAgo(days) })),
});
const isRemoved = (of: DraftMetadata, { hasWorkflow }: { hasWorkflow: boolean }) =>
  expiredDrafts([of], () => hasWorkflow, now).length === 1;

test.each<[string, DraftMetadata, boolean, boolean]>([
  ['changed yesterday', draft(200, 200, 1), false, false],
  ['untouched for 13 days', draft(13), false, false],
  ['untouched for 14 days', draft(14), false, true],
  ['untouched for 89 days', draft(200, 89), false, true],
  ['untouched for 90 days', draft(200, 120, 90), true, true],
  ['that is being deleted', { ...draft(200), deletionTimestamp: daysAgo(0) }, false, false],
])('a draft %s', (_what, of, withWorkflow, without) => {
  expect(isRemoved(of, { hasWorkflow: true })).toBe(withWorkflow);
  expect(isRemoved(of, { hasWorkflow: false })).toBe(without);
});

test('an empty list, which the API server writes as null, has no drafts', () => {
  expect(draftList.parse({ kind: 'PartialObjectMetadataList', items: null })).toEqual({ items: [] });
});
