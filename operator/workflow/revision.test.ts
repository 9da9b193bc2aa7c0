import { expect, test } from 'vitest';
import type { Workflow, WorkflowRun } from '../../api/kinds.ts';
import { ANNOTATION } from '../../api/group.ts';
import {
  controllerRevision,
  draftRevision,
  namedRevision,
  obstacleOf,
  prunable,
  prunableDrafts,
} from './revision.ts';
import { isOfDraft, revisionsInUse, wasActivated } from '../shared/revisions.ts';

const metadata = { name: 'orders', namespace: 'shop' };
const base = { apiVersion: 'windlass.dev/v1alpha1', kind: 'Workflow', metadata } as const;

test('equal specs have revisions of the same name, whatever the order of members and what does not run', () => {
  const one = namedRevision({
    ...base,
    spec: { active: true, nodes: [{ id: 't', webhook: { path: 'a', headers: [] } }] },
  });
  const other = namedRevision({
    ...base,
    spec: { nodes: [{ webhook: { headers: [], path: 'a' }, id: 't' }], active: false },
  });
  expect(one.name).toBe(other.name);
  expect(one.name).toMatch(/^orders-[0-9a-z]{10}$/);
});

test('another step makes another revision', () => {
  const one = namedRevision({ ...base, spec: { active: true, nodes: [{ id: 't', manual: {} }] } });
  const other = namedRevision({
    ...base,
    spec: {
      active: true,
      nodes: [
        { id: 't', manual: {} },
        { id: 'r', response: {} },
      ],
    },
  });
  expect(one.name).not.toBe(other.name);
});

test('a revision is in use while a run that names it has not ended', () => {
  const run = (revision: string, phase?: 'Running' | 'Succeeded'): WorkflowRun => ({
    ...base,
    kind: 'WorkflowRun',
    spec: { workflow: 'orders', revision },
    ...(phase && { status: { phase } }),
  });
  expect(revisionsInUse([run('a'), run('b', 'Running'), run('c', 'Succeeded')])).toEqual(new Set(['a', 'b']));
});

test('the newest revisions stay, and older ones that are needed', () => {
  const revisions = [1, 2, 3, 4, 5].map((revision) => ({
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: { name: `r${revision}` },
    revision,
  }));
  expect(prunable(revisions, new Set(['r1']), 2).map(({ metadata }) => metadata.name)).toEqual(['r3', 'r2']);
});

test.each([
  ['delete it', {}, /Delete it: kubectl -n shop delete controllerrevisions\.apps orders-1$/],
  [
    'remove its finalizers first',
    { finalizers: ['example.com/hold'] },
    /finalizers \(example\.com\/hold\)\..*"finalizers":null.*delete/,
  ],
])('of an object in the way of a revision it is told which, and how to %s', (_what, fields, remedy) => {
  const message = obstacleOf({ metadata: { name: 'orders-1', namespace: 'shop', ...fields } });
  expect(message).toMatch(/^ControllerRevision orders-1 has the name/);
  expect(message).toMatch(remedy);
});

const MADE = new Date('2026-01-01T00:00:00Z');
const asStored = (manifest: ReturnType<typeof draftRevision>) => ({
  apiVersion: 'apps/v1',
  kind: 'ControllerRevision',
  ...manifest,
});

test('a revision of a draft is not activated, whether its workflow is active or not', () => {
  for (const active of [true, false]) {
    const workflow = {
      ...base,
      metadata: { ...metadata, uid: 'uid' },
      spec: { active, nodes: [{ id: 't', manual: {} }] },
    };
    const made = asStored(draftRevision(workflow, namedRevision(workflow), MADE));
    expect(wasActivated(made)).toBe(false);
    expect(isOfDraft(made)).toBe(true);
    expect(
      isOfDraft(
        asStored(controllerRevision(workflow, namedRevision(workflow), { given: workflow.spec, now: MADE })),
      ),
    ).toBe(false);
  }
});

test('a revision of a draft that was published or activated is one like any other', () => {
  for (const mark of [ANNOTATION.activated, ANNOTATION.publishedBy]) {
    const annotations = { [ANNOTATION.draft]: '2026-01-01', [mark]: 'set' };
    expect(isOfDraft({ ...base, metadata: { ...metadata, annotations } })).toBe(false);
  }
});

test('of the revisions of drafts the newest stay, and older ones that are needed', () => {
  const revisions = [3, 1, 4, 2, 5].map((day) => ({
    ...base,
    metadata: { name: `d${day}`, annotations: { [ANNOTATION.draft]: `2026-01-0${day}T00:00:00.000Z` } },
  }));
  const names = prunableDrafts(revisions, new Set(['d1']), 2).map((revision) => revision.metadata.name);
  expect(names).toEqual(['d3', 'd2']);
});

test('the mark of an activated revision stays, also when its workflow is inactive and published again', () => {
  const publication = { by: 'ada', message: 'fix' };
  const workflow = {
    ...base,
    metadata: { ...metadata, uid: 'uid', generation: 3 },
    spec: { active: false, nodes: [{ id: 't', manual: {} }] },
  } as Workflow;
  const before = { [ANNOTATION.activated]: '2025-01-01T00:00:00.000Z', [ANNOTATION.draft]: '2025-01-01' };
  const made = controllerRevision(workflow, namedRevision(workflow), {
    given: workflow.spec,
    publication,
    before,
    now: MADE,
  });
  expect(made.metadata.annotations).toEqual({
    [ANNOTATION.activated]: '2025-01-01T00:00:00.000Z',
    [ANNOTATION.published]: MADE.toISOString(),
    [ANNOTATION.publishedBy]: 'ada',
    [ANNOTATION.publishedMessage]: 'fix',
    [ANNOTATION.spec]: JSON.stringify({ nodes: [{ id: 't', manual: {} }] }),
  });
});
