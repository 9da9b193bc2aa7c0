import { expect, test } from 'vitest';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { currentProblems } from './current.ts';
import { draftProblems, savedProblems } from './problems.ts';

const request = (parameters: Record<string, unknown>): WorkflowNode => ({
  id: 'ask',
  skill: { name: 'http_request', parameters },
});
const specOf = (asks: WorkflowNode, when = 'item.x'): WorkflowSpec => ({
  active: false,
  nodes: [{ id: 'trigger', manual: {} }, asks, { id: 'loop', group: {} }],
  edges: [
    { from: 'trigger', to: 'ask', when },
    { from: 'ask', to: 'loop' },
  ],
});
const saved = specOf(request({ method: 'GET' }));

const told = (message: string) =>
  savedProblems({
    metadata: { name: 'a', generation: 1 },
    spec: saved,
    status: {
      conditions: [
        { type: 'Valid', status: 'False', reason: 'X', message, lastTransitionTime: '2026-01-01T00:00:00Z' },
      ],
    },
  });
const MISSING = 'node ask: skill: parameters: url: is missing';
const EDGE = 'edge trigger → ask: when: line 1, column 1: unknown name';
const BODY = 'node loop: the group has no body: set within: loop on the nodes that belong to it';
const ORDER = 'node ask: nodes.x names a node that does not come before ask';

const FILLED = specOf(request({ method: 'GET', url: 'https://example.com' }));
const OTHER = specOf(request({ method: 'POST' }));
const INSIDE: WorkflowSpec = { ...saved, nodes: [...saved.nodes, { id: 'in', within: 'loop', group: {} }] };
const CONNECTED: WorkflowSpec = { ...saved, edges: [{ from: 'trigger', to: 'ask' }] };

test.each([
  ['nothing changed', MISSING, saved, true],
  ['its field changed', MISSING, FILLED, false],
  ['another field changed', MISSING, OTHER, true],
  ['its node was removed', MISSING, { ...saved, nodes: saved.nodes.slice(0, 1) }, false],
  ['its condition changed', EDGE, specOf(request({ method: 'GET' }), 'true'), false],
  ['a node changed', EDGE, FILLED, true],
  ['a node came into the group', BODY, INSIDE, false],
  ['another node changed', BODY, FILLED, true],
  ['a connection to its node changed', ORDER, CONNECTED, false],
])('when %s, a problem of the last save is shown: %s', (_what, message, draft, isShown) => {
  expect(currentProblems(told(message), saved, draft)).toHaveLength(isShown ? 1 : 0);
});

test('a problem that the API server told about a draft is shown until its field changes', () => {
  const found = draftProblems(
    [{ field: 'spec.nodes[1].skill.parameters.url', message: 'Required value' }],
    saved,
  );
  expect(currentProblems(found, saved, OTHER)).toEqual(found);
  expect(currentProblems(found, saved, FILLED)).toEqual([]);
});
