import { expect, test } from 'vitest';
import { ANNOTATION } from './group.ts';
import {
  hasPublication,
  keptPublicationMarks,
  MAX_MESSAGE,
  messageOfVersion,
  publicationMarks,
  publicationOf,
  specOfVersion,
  versionMarks,
} from './version.ts';

const NOW = new Date('2026-01-01T00:00:00Z');
const spec = { active: true, suspend: false, nodes: [{ id: 't', manual: {} }] };
const marksOf = (message?: string) =>
  publicationMarks({ by: 'ada', ...(message !== undefined && { message }) }, 4) as Record<string, string>;

test.each<[string, Record<string, string>, number, object | undefined]>([
  ['with a message', marksOf('fix'), 4, { by: 'ada', message: 'fix' }],
  ['of an earlier spec', marksOf('fix'), 5, undefined],
  ['that nobody noted', {}, 4, undefined],
  ['with an empty message', marksOf(''), 4, { by: 'ada' }],
  [
    'with a message that is too long',
    marksOf('x'.repeat(200_000)),
    4,
    { by: 'ada', message: 'x'.repeat(MAX_MESSAGE) },
  ],
  [
    'with a message whose last character is cut in half',
    marksOf(`${'x'.repeat(MAX_MESSAGE - 1)}\u{1F600}`),
    4,
    { by: 'ada', message: `${'x'.repeat(MAX_MESSAGE - 1)}\uFFFD` },
  ],
])('a publication %s', (_what, annotations, generation, expected) => {
  expect(publicationOf({ annotations, generation })).toEqual(expected);
});

test('a change that is no new version keeps who published, and names nobody who did not', () => {
  const annotations = { ...marksOf('fix') };
  const next = { ...annotations, ...keptPublicationMarks({ annotations, generation: 4 }) };
  expect(publicationOf({ annotations: next, generation: 5 })).toEqual({ by: 'ada', message: 'fix' });
  expect(keptPublicationMarks({ annotations, generation: 5 })).toEqual({});
});

test('publishing without a message removes that of before', () => {
  expect(publicationMarks({ by: 'ada' }, 4)[ANNOTATION.publishedMessage]).toBeNull();
});

test('a revision holds the publication and the spec, without the fields that versions leave out', () => {
  const publication = { by: 'ada', message: 'fix' };
  const annotations = versionMarks({ publication, spec, now: NOW });
  expect(annotations[ANNOTATION.published]).toBe(NOW.toISOString());
  expect(hasPublication({ annotations }, publication)).toBe(true);
  expect(hasPublication({ annotations }, { by: 'ada' })).toBe(false);
  expect(specOfVersion({ annotations })).toEqual({ nodes: spec.nodes });
});

test('a change in another way keeps the earlier publication of the same spec', () => {
  const before = versionMarks({ publication: { by: 'ada', message: 'fix' }, spec, now: NOW });
  const annotations = versionMarks({ publication: undefined, spec, before, now: new Date() });
  expect(annotations).toEqual(before);
});

test.each<[string, (string | undefined)[], string | undefined]>([
  ['only without one', [undefined], undefined],
  ['with one, then without', ['fix', undefined], 'fix'],
  ['with one, then twice without', ['fix', undefined, undefined], 'fix'],
  ['without one, then with one', [undefined, 'fix'], 'fix'],
  ['with one, then with another', ['fix', 'again'], 'again'],
  ['with one, without, then with another', ['fix', undefined, 'again'], 'again'],
])('the message of a version that was published %s', (_what, messages, expected) => {
  let annotations: Record<string, string> = {};
  for (const [index, message] of messages.entries()) {
    const publication = { by: `user-${index}`, ...(message !== undefined && { message }) };
    annotations = versionMarks({ publication, spec, before: annotations, now: NOW });
    // Otherwise the operator would write the annotations in each reconcile.
    expect(hasPublication({ annotations }, publication)).toBe(true);
  }
  expect(messageOfVersion({ annotations })).toBe(expected);
  expect(versionMarks({ publication: undefined, spec, before: annotations, now: NOW })).toEqual(annotations);
});

test.each<[string, Record<string, string>]>([
  ['is missing', {}],
  ['is no JSON', { [ANNOTATION.spec]: '{' }],
  ['has no nodes', { [ANNOTATION.spec]: '{"edges":[]}' }],
])('no version is restored from a spec that %s', (_what, annotations) => {
  expect(specOfVersion({ annotations })).toBeUndefined();
});

test('a spec that annotations have no room for is not kept', () => {
  const large = { ...spec, description: 'x'.repeat(200_000) };
  expect(versionMarks({ publication: undefined, spec: large, now: NOW })).toEqual({});
});
