import { expect, test } from 'vitest';
import type { WorkflowObject } from '../../kube/resources.ts';
import { draftOf } from './annotation.ts';
import { moveNodes, updateSettings } from './model.ts';
import { bodyOf, contentOf, isPinsOnly, isPublished, readBody, readStored } from './storedDraft.ts';

const workflow = (spec: Partial<WorkflowObject['spec']> = {}, uid = 'u'): WorkflowObject => ({
  metadata: { name: 'orders', uid },
  spec: {
    active: true,
    nodes: [
      { id: 'trigger', manual: {} },
      { id: 'one', skill: { name: 'set' } },
    ],
    ...spec,
  },
});
const live = workflow();
const base = draftOf(live);
const draft = moveNodes(updateSettings(base, { displayName: 'Mine' }), { one: { x: 40, y: 900 } });
const object = { metadata: { name: 'orders' }, spec: contentOf(live, { base, draft, text: 'nodes: [' }) };

test('a draft comes back as it was stored, with its base and the invalid YAML', () => {
  expect(readStored(object, live)).toEqual({ base, draft, text: 'nodes: [' });
});

test('a draft has the switches of the workflow, not those of the time when it was stored', () => {
  const stopped = workflow({ active: false, suspend: true });
  expect(readStored(object, stopped)?.draft.spec).toMatchObject({
    active: false,
    suspend: true,
    displayName: 'Mine',
  });
  const hostile = JSON.stringify({ spec: { ...base.spec, active: true, suspend: false } });
  expect(readBody(hostile, workflow({ active: false }).spec)?.spec).toEqual({ ...base.spec, active: false });
});

test('a draft that differs in pins alone changes nothing', () => {
  const pins = { one: { text_content: 'done', data_content: 1 } };
  const stopped = { ...base, spec: { ...base.spec, active: false } };
  expect(isPinsOnly({ base, draft: { ...stopped, pins } })).toBe(true);
  expect(isPinsOnly({ base, draft: { ...draft, pins } })).toBe(false);
  expect(isPinsOnly({ base, draft: moveNodes(base, { one: { x: 40, y: 900 } }) })).toBe(false);
  expect(isPinsOnly({ base, draft: { ...base, pins }, text: 'nodes: [' })).toBe(false);
});

test('a workflow with another UID never gets the draft', () => {
  expect(readStored(object, workflow({}, 'v'))).toBeUndefined();
});

test('a node without a stored position gets one', () => {
  const body = JSON.stringify({ spec: base.spec, positions: { trigger: { x: 0, y: 0 }, one: { x: 'far' } } });
  expect(readBody(body, live.spec)?.positions['one']).toEqual({
    x: expect.any(Number),
    y: expect.any(Number),
  });
});

test.each([
  ['no JSON', 'spec:'],
  ['no object', '[]'],
  ['no nodes', '{"spec":{}}'],
  ['a node without an ID', '{"spec":{"nodes":[{"manual":{}}]}}'],
  ['two nodes with one ID', '{"spec":{"nodes":[{"id":"a"},{"id":"a"}]}}'],
  ['a value of a wrong type', '{"spec":{"nodes":[{"id":"a","displayName":{}}]}}'],
  [
    'more edges than can be laid out',
    JSON.stringify({
      spec: {
        nodes: [{ id: 'a' }, { id: 'b' }],
        edges: Array.from({ length: 601 }, () => ({ from: 'a', to: 'b' })),
      },
    }),
  ],
  [
    'more nodes than can be laid out',
    JSON.stringify({ spec: { nodes: Array.from({ length: 601 }, (_, at) => ({ id: `n${at}` })) } }),
  ],
  [
    'a value that is nested too deeply',
    `{"spec":{"nodes":[{"id":"a","skill":{"parameters":${'{"x":'.repeat(5_000)}1${'}'.repeat(5_003)}]}}`,
  ],
  ['an edge to an unknown node', '{"spec":{"nodes":[{"id":"a"}],"edges":[{"from":"a","to":"b"}]}}'],
])('a body with %s is refused', (_what, body) => {
  expect(readBody(body, live.spec)).toBeUndefined();
});

test('a pinned output that is nested too deeply is left out, and the draft is shown', () => {
  const data = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
  const body = `{"spec":{"nodes":[{"id":"a"}]},"pins":{"a":{"text_content":"","data_content":${data}}}}`;
  expect(readBody(body, live.spec)).not.toHaveProperty('pins');
});

test('a workflow that was activated or suspended alone has nothing to publish', () => {
  expect(isPublished(base, base)).toBe(true);
  expect(isPublished(draftOf(workflow({ active: false, suspend: true })), base)).toBe(true);
  expect(isPublished(draft, base)).toBe(false);
  expect(bodyOf(base)).not.toContain('active');
});
