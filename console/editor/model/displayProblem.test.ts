import { expect, test } from 'vitest';
import { WRONGLY_TYPED_SPECS } from '../../../test/support/console/wronglyTypedSpecs.ts';
import { displayProblemIn } from './displayProblem.ts';

test.each<[object, (string | number)[], string]>([
  [{ nodes: [{ id: 'a', displayName: {} }] }, ['nodes', 0, 'displayName'], 'displayName must be text.'],
  [{ nodes: [{ id: 'a', agent: null }] }, ['nodes', 0, 'agent'], 'agent must be an object.'],
  [{ nodes: [{ id: 'a', agent: { tools: {} } }] }, ['nodes', 0, 'agent', 'tools'], 'tools must be a list.'],
  [
    { nodes: [{ id: 'a', agent: { tools: [{ name: 5 }] } }] },
    ['nodes', 0, 'agent', 'tools', 0, 'name'],
    'name must be text.',
  ],
  [{ nodes: [{ id: 'a' }], edges: [{ when: null }] }, ['edges', 0, 'when'], 'when must be text.'],
  [{ nodes: ['a'] }, ['nodes', 0], 'nodes[0] must be an object.'],
])('the value of a wrong type in %j is found', (spec, path, message) => {
  expect(displayProblemIn(spec)).toEqual({ path, message });
});

test.each(['nodes', 'edges'])('more %s than the canvas can show are found', (name) => {
  const spec = (count: number) => ({ nodes: [], [name]: Array.from({ length: count }, () => ({})) });
  expect(displayProblemIn(spec(600))).toBeUndefined();
  expect(displayProblemIn(spec(601))).toEqual({
    path: [name],
    message: `${name} must be at most 600: the canvas cannot show more.`,
  });
});

test('a value that is nested too deeply is found', () => {
  const parameters = JSON.parse(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`) as object;
  expect(displayProblemIn({ nodes: [{ id: 'a', skill: { name: 'set', parameters } }] })).toEqual({
    path: [],
    message: 'The workflow is nested more than 200 levels deep.',
  });
});

test('text in a number field is displayed, because a form stores what somebody is typing', () => {
  const node = { id: 'a', skill: { name: '', parameters: {} }, forEach: { items: '', maxParallel: 'x' } };
  expect(displayProblemIn({ displayName: '', nodes: [node], edges: [] })).toBeUndefined();
});

test('values that can be displayed, and mistakes that other checks find, are no display problems', () => {
  const displayed = WRONGLY_TYPED_SPECS.flatMap(([what, spec]) => (displayProblemIn(spec) ? [] : [what]));
  expect(displayed).toEqual([
    'an ID that is a number',
    'a skill without a name',
    'a skill with the name of an inherited member',
    'values that are a list',
    'a URL that is an object',
    'a group in itself',
    'an edge to itself',
    'members of settings of wrong types',
  ]);
});
