/** Turns of a run that goes only as far as one node. */
import { expect, test } from 'vitest';
import type { NodeState } from '../runs/types/node.ts';
import {
  agent,
  fail,
  mail,
  NOW,
  open,
  phases,
  reply,
  revision,
  text,
  pass,
  webhook,
} from '../test/support/runner/passes.ts';
import { succeed } from './transitions.ts';

const edges = [
  { from: 'trigger', to: 'a' },
  { from: 'trigger', to: 'b' },
  { from: 'a', to: 'join' },
  { from: 'b', to: 'join' },
  { from: 'a', to: 'm' },
  { from: 'a', to: 'rescue', after: 'Failure' },
  { from: 'join', to: 'last', when: 'nodes.join.data_content.none > 1' },
];
const plan = revision(
  [webhook, agent('a'), agent('b'), mail('m'), reply('join'), reply('rescue'), reply('last')],
  edges,
);
const asFarAs = (until: string, nodes: NodeState[] = []) => open(plan, { test: true, until, nodes });
const NOT_ASKED = { phase: 'Skipped', attempts: 0, reason: 'NotAsked' };

test.each([
  ['the trigger', 'trigger', []],
  ['the node after it', 'a', ['a']],
  ['another branch', 'b', ['b']],
  ['a node after one of two branches', 'm', ['a']],
  ['a node that joins branches', 'join', ['a', 'b']],
  ['the last node', 'last', ['a', 'b']],
])('a test run until %s starts only the nodes before it', (_what, until, begun) => {
  const step = pass(asFarAs(until));
  expect(step?.starts?.map(({ id }) => id) ?? []).toEqual(begun);
});

test('all other nodes are skipped at once with a message, and the run succeeds with the node', () => {
  const memory = asFarAs('a');
  const first = pass(memory);
  expect(first?.checkpoints?.slice(1)).toEqual(
    ['b', 'm', 'join', 'rescue', 'last'].map((id) => expect.objectContaining({ id, ...NOT_ASKED })),
  );
  expect(first?.checkpoints?.[1]?.message).toBe('skipped: this test run stops at node a');
  expect(first).not.toHaveProperty('end');
  succeed(memory, 'a', text('hello'), NOW);
  expect(pass(memory)).toMatchObject({ checkpoints: [{ id: 'a' }], end: { phase: 'Succeeded' } });
});

test('a condition after the node is not evaluated', () => {
  const memory = asFarAs('join', [done('trigger'), done('a'), done('b')]);
  expect(pass(memory)).toMatchObject({ end: { phase: 'Succeeded' } });
});

test('a failure fails the run, even if a node after it would handle it', () => {
  const memory = asFarAs('a');
  pass(memory);
  fail(memory, 'a');
  expect(pass(memory)).toMatchObject({ end: { phase: 'Failed', reason: 'NodeFailed' } });
});

test('a node before `until` without a taken edge is skipped without a message', () => {
  const memory = asFarAs('rescue');
  pass(memory);
  succeed(memory, 'a', text(''), NOW);
  const step = pass(memory);
  expect(step).toMatchObject({ end: { phase: 'Succeeded' } });
  expect(step?.checkpoints?.find(({ id }) => id === 'rescue')).not.toHaveProperty('reason');
});

test('after a takeover the run stops at the same node', () => {
  const skipped = ['m', 'rescue', 'last'].map((id): NodeState => ({ id, phase: 'Skipped', attempts: 0 }));
  const step = pass(asFarAs('join', [done('trigger'), done('a'), done('b'), ...skipped]));
  expect(phases(step?.checkpoints)).toEqual({ join: 'Succeeded' });
  expect(step).toMatchObject({ end: { phase: 'Succeeded' } });
});

test('until must be a node of the revision', () => {
  expect(() => asFarAs('nowhere')).toThrow(/has no node nowhere/);
});

function done(id: string): NodeState {
  return { id, phase: 'Succeeded', attempts: 1, output: { text_content: '', data_content: null } };
}
