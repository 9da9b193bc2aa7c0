import { expect, test } from 'vitest';
import { ANNOTATION } from '../../../api/group.ts';
import type { RevisionObject, WorkflowObject } from '../../kube/resources.ts';
import { comparable, restored, versionsOf } from './versions.ts';

const workflow = {
  metadata: { name: 'orders', uid: 'uid' },
  spec: { active: true, nodes: [{ id: 't', manual: {} }] },
  status: { revision: 'orders-2' },
} as WorkflowObject;

function revision(number: number, annotations: Record<string, string> = {}, owner = 'uid'): RevisionObject {
  return {
    metadata: {
      name: `orders-${number}`,
      creationTimestamp: `2026-01-0${number}T00:00:00Z`,
      annotations,
      ownerReferences: [{ uid: owner }],
    },
    revision: number,
    data: { number },
  };
}

const spec = { nodes: [{ id: 'old', manual: {} }] };
const published = {
  [ANNOTATION.published]: '2026-02-01T00:00:00Z',
  [ANNOTATION.publishedBy]: 'ada',
  [ANNOTATION.publishedMessage]: 'fix',
  [ANNOTATION.spec]: JSON.stringify(spec),
};

test('versions are the revisions of the workflow, the newest first, with who published them', () => {
  const versions = versionsOf(workflow, [revision(1), revision(2, published), revision(3, {}, 'other')]);
  expect(versions).toEqual([
    {
      revision: 'orders-2',
      at: '2026-02-01T00:00:00Z',
      by: 'ada',
      program: undefined,
      message: 'fix',
      isCurrent: true,
      spec,
      data: { number: 2 },
    },
    expect.objectContaining({
      revision: 'orders-1',
      at: '2026-01-01T00:00:00Z',
      by: undefined,
      isCurrent: false,
    }),
  ]);
});

test('a message of an earlier publication is not that of the last one, which somebody else may have made', () => {
  const { [ANNOTATION.publishedMessage]: _message, ...last } = published;
  const again = { ...last, [ANNOTATION.publishedBy]: 'bob', [ANNOTATION.earlierMessage]: 'fix' };
  const [version] = versionsOf(workflow, [revision(2, again)]);
  expect(version).toMatchObject({ by: 'bob', earlierMessage: 'fix' });
  expect(version?.message).toBeUndefined();
});

test('a version that another program applied names that program', () => {
  const field = (manager: string, more: object) => ({
    manager,
    time: '2026-01-02T00:00:00Z',
    fieldsV1: { 'f:spec': { 'f:nodes': {} } },
    ...more,
  });
  const managedFields = [
    field('kubectl-client-side-apply', {}),
    field('windlass-console', { time: '2026-01-01T00:00:00Z' }),
    field('windlass', { time: '2026-01-03T00:00:00Z', subresource: 'status' }),
    field('labeler', { time: '2026-01-04T00:00:00Z', fieldsV1: { 'f:metadata': {} } }),
    // They are no new version.
    field('windlass-console', { time: '2026-01-05T00:00:00Z' }),
    field('switcher', { time: '2026-01-06T00:00:00Z', fieldsV1: { 'f:spec': { '.': {}, 'f:active': {} } } }),
  ];
  const applied = { ...workflow, metadata: { ...workflow.metadata, managedFields } };
  const programs = (revisions: RevisionObject[]) =>
    versionsOf(applied, revisions).map(({ program }) => program);
  expect(programs([revision(1), revision(2)])).toEqual(['kubectl-client-side-apply', undefined]);
  expect(programs([revision(2, published)])).toEqual([undefined]);
});

test.each<[string, Record<string, string>, number, number]>([
  ['only tested is no version', {}, 4, 0],
  ['that was published and is active is one', { [ANNOTATION.activated]: '2026-01-02' }, 4, 1],
  ['that was published inactive is one', {}, 2, 1],
])('a draft %s', (_what, annotations, number, expected) => {
  const tested = revision(number, { [ANNOTATION.draft]: '2026-01-01', ...annotations });
  expect(versionsOf(workflow, [tested])).toHaveLength(expected);
});

test('a version is restored into the draft, whose other fields stay as they are', () => {
  const [version] = versionsOf(workflow, [revision(2, published)]);
  const pins = { old: { text_content: 'kept', data_content: null } };
  const draft = { spec: workflow.spec, positions: {}, pins };
  expect(version && restored(version, draft)?.spec).toEqual({ active: true, ...spec });
  expect(version && restored(version, draft)?.pins).toEqual(pins);
  expect(restored({ spec: undefined }, draft)).toBeUndefined();
  expect(restored({ spec: { nodes: workflow.spec.nodes } }, draft)).toBeUndefined();
});

test('versions are compared in the order in which manifests are written', () => {
  const [version] = versionsOf(workflow, [revision(2, published)]);
  if (!version) throw new Error('there is one');
  const stored = {
    displayName: 'Orders',
    edges: [{ to: 'a', from: 't' }],
    nodes: [
      { manual: {}, id: 't' },
      { displayName: 'A', id: 'a', skill: { name: 'set' } },
    ],
  } as unknown as NonNullable<typeof version.spec>;
  const [shown] = comparable({ ...version, spec: stored }, { ...version, spec: stored });
  const orderOf = (value: object) => Object.keys(value);
  const { nodes, edges } = shown as { nodes: object[]; edges: object[] };
  expect(orderOf(shown as object)).toEqual(['displayName', 'nodes', 'edges']);
  expect([...nodes, ...edges].map(orderOf)).toEqual([
    ['id', 'manual'],
    ['id', 'displayName', 'skill'],
    ['from', 'to'],
  ]);
  const foreign = { nodes: 'none' } as unknown as typeof stored;
  expect(comparable({ ...version, spec: foreign }, version)[0]).toBe(foreign);
});

test('versions are compared by what people wrote, or by what runs execute where one lacks that', () => {
  const [two, one] = versionsOf(workflow, [revision(1), revision(2, published)]);
  if (!one || !two) throw new Error('there are two');
  expect(comparable(two, two)).toEqual([spec, spec]);
  expect(comparable(one, two)).toEqual([{ number: 1 }, { number: 2 }]);
});

const invalid = (generation: number, more: object = {}) => ({
  ...workflow,
  metadata: {
    ...workflow.metadata,
    generation: 5,
    annotations: {
      [ANNOTATION.publishedBy]: 'grace',
      [ANNOTATION.publishedGeneration]: '5',
    },
    managedFields: [
      {
        manager: 'windlass-console',
        time: '2026-03-01T00:00:00Z',
        fieldsV1: { 'f:spec': { 'f:nodes': {} } },
      },
    ],
  },
  status: {
    revision: 'orders-2',
    conditions: [
      {
        type: 'Valid',
        status: 'False' as const,
        reason: 'UnknownReference',
        message: 'node t: manual: is wrong',
        lastTransitionTime: '2026-02-28T00:00:00Z',
        observedGeneration: generation,
      },
    ],
  },
  ...more,
});

test('what is published and not valid is the first version, with why no run executes it', () => {
  const [first, second] = versionsOf(invalid(5), [revision(1), revision(2, published)]);
  expect(first).toEqual({
    revision: 'generation 5',
    at: '2026-03-01T00:00:00Z',
    by: 'grace',
    program: undefined,
    message: undefined,
    isCurrent: false,
    problem: expect.stringContaining('wrong'),
    spec: { nodes: workflow.spec.nodes },
    data: { nodes: workflow.spec.nodes },
  });
  expect(second).toMatchObject({ revision: 'orders-2', isCurrent: true });
  expect(versionsOf(invalid(5), [])).toHaveLength(1);
});

test.each([
  ['a version whose check is not known yet', invalid(4)],
  [
    'a version that runs execute although it is no longer valid',
    invalid(5, { spec: { active: true, ...spec } }),
  ],
])('%s is not another one', (_what, object) => {
  expect(versionsOf(object, [revision(2, published)]).map((each) => each.revision)).toEqual(['orders-2']);
});
