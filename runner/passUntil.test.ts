/** Turns of a run that goes only as far as one node. */
import { expect, test } from 'vitest';
import type { NodeState } from '../runs/types.ts';
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
} from '../test/support/passes.ts';
import { succeed } from './executionState.ts';

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
])('a run as far as %s begins only what comes before it', (_what, until, begun) => {
  const step = pass(asFarAs(until));
  expect(step?.starts?.map(({ id }) => id) ?? []).toEqual(begun);
});

test('everything else is skipped at once and says why, and the run has succeeded when the node has', () => {
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

test('a condition behind the node is not judged', () => {
  const memory = asFarAs('join', [done('trigger'), done('a'), done('b')]);
  expect(pass(memory)).toMatchObject({ end: { phase: 'Succeeded' } });
});

test('a failure fails the run, also one that a node behind it would have caught', () => {
  const memory = asFarAs('a');
  pass(memory);
  fail(memory, 'a');
  expect(pass(memory)).toMatchObject({ end: { phase: 'Failed', reason: 'NodeFailed' } });
});

test('a node that no edge leads to this time is skipped without being out of the question', () => {
  const memory = asFarAs('rescue');
  pass(memory);
  succeed(memory, 'a', text(''), NOW);
  const step = pass(memory);
  expect(step).toMatchObject({ end: { phase: 'Succeeded' } });
  expect(step?.checkpoints?.find(({ id }) => id === 'rescue')).not.toHaveProperty('reason');
});

test('after a takeover it goes no further than before', () => {
  const skipped = ['m', 'rescue', 'last'].map((id): NodeState => ({ id, phase: 'Skipped', attempts: 0 }));
  const step = pass(asFarAs('join', [done('trigger'), done('a'), done('b'), ...skipped]));
  expect(phases(step?.checkpoints)).toEqual({ join: 'Succeeded' });
  expect(step).toMatchObject({ end: { phase: 'Succeeded' } });
});

test('a node that the revision does not have is none to go to', () => {
  expect(() => asFarAs('nowhere')).toThrow(/has no node nowhere/);
});

function done(id: string): NodeState {
  return { id, phase: 'Succeeded', attempts: 1, output: { text_content: '', data_content: null } };
}
