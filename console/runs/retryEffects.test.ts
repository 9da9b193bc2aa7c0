import { expect, test } from 'vitest';
import type { WorkflowNode } from '../../api/workflow.ts';
import { retryEffects } from './retryEffects.ts';

const effects: Record<string, string> = {
  set: 'None',
  http_request: 'AtLeastOnce',
  send_email: 'AtMostOnce',
};
const effectOf = (name: string) => effects[name];
const skill = (id: string, name: string, more: Partial<WorkflowNode> = {}): WorkflowNode => ({
  id,
  skill: { name, parameters: {} },
  ...more,
});
const agent = (id: string, tools: string[]): WorkflowNode => ({
  id,
  agent: {
    credential: 'model',
    model: 'demo',
    prompt: 'Answer.',
    tools: tools.map((tool) => ({ name: tool, skill: tool })),
  },
});
const nodes: WorkflowNode[] = [
  { id: 'trigger', manual: {} },
  skill('count', 'set'),
  skill('ask', 'http_request'),
  agent('write', ['send_email']),
  skill('mail', 'send_email'),
  skill('again', 'send_email', { effect: 'AtLeastOnce' }),
];

test.each([
  [
    'from the start all nodes with an effect',
    undefined,
    ['ask', 'write', 'mail', 'again'],
    ['write', 'mail'],
  ],
  ['from a node it and the ones after it', 'mail', ['mail', 'again'], ['mail']],
  [
    'from a node without an effect those after it',
    'count',
    ['ask', 'write', 'mail', 'again'],
    ['write', 'mail'],
  ],
  ['from a node that no longer exists none', 'gone', [], []],
])('a retry repeats %s', (_what, failed, repeated, once) => {
  expect(retryEffects({ nodes }, effectOf, failed)).toEqual({ repeated, once });
});

test('a failed node of a loop repeats the whole loop, and what is beside it is left out', () => {
  const looped: WorkflowNode[] = [
    { id: 'trigger', manual: {} },
    { id: 'each', group: {}, forEach: { items: '[1]' } },
    skill('inner', 'http_request', { within: 'each' }),
    skill('last', 'send_email', { within: 'each' }),
    skill('beside', 'send_email'),
    skill('after', 'http_request'),
  ];
  const edges = [
    { from: 'trigger', to: 'each' },
    { from: 'trigger', to: 'beside' },
    { from: 'each', to: 'after' },
  ];
  expect(retryEffects({ nodes: looped, edges }, effectOf, 'last').repeated).toEqual([
    'inner',
    'last',
    'after',
  ]);
});
