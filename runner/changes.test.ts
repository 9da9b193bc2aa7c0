import { expect, test } from 'vitest';
import { NOW, mail, open, pass, phases, revision, text, webhook } from '../test/support/runner/passes.ts';
import { repeatSeen, takeChanges } from './changes.ts';
import { succeed } from './transitions.ts';

test('a node whose keys another run has seen is repeated, and nothing else of the step is lost', () => {
  const unseen = {
    id: 'unseen',
    skill: { name: 'remove_duplicates', parameters: { items: [1] } },
  };
  const edges = [
    { from: 'trigger', to: 'unseen' },
    { from: 'trigger', to: 'm' },
  ];
  const state = open(revision([webhook, unseen, mail('m')], edges));
  pass(state);
  succeed(state, 'unseen', text('1 item'), NOW);
  succeed(state, 'm', text('sent'), NOW);
  const remember = [{ node: 'unseen', keys: ['1'], ttlMs: 1, limit: 1 }];
  const refused = { ...takeChanges(state), remember };
  expect(phases(refused.checkpoints)).toEqual({ unseen: 'Succeeded', m: 'Succeeded' });
  expect(repeatSeen(state, refused, [{ scope: state.root, id: 'unseen' }])).toEqual(['unseen']);
  expect(state.root.phases.get('unseen')).toBe('Running');
  expect(state.root.outputs.has('unseen')).toBe(false);
  expect(phases(pass(state)?.checkpoints)).toEqual({ m: 'Succeeded' });
  succeed(state, 'unseen', text('no item'), NOW);
  expect(pass(state)).toMatchObject({ checkpoints: [{ id: 'unseen' }], end: { phase: 'Succeeded' } });
});
