import { expect, test } from 'vitest';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { readProposal } from './readProposal.ts';

const draft: WorkflowSpec = { active: true, suspend: true, nodes: [{ id: 'trigger', manual: {} }] };
const nodes = [
  { id: 'trigger', manual: {} },
  { id: 'mail', skill: { name: 'send_email', parameters: { to: 'a@example.com' } } },
];
const json = JSON.stringify({ nodes });

test.each([
  ['a bare object', json],
  ['a manifest', JSON.stringify({ kind: 'Workflow', spec: { nodes } })],
  ['a fenced block with words around it', `Here it is:\n\`\`\`json\n${json}\n\`\`\`\nHave fun!`],
  ['words around braces', `Sure! ${json} <script>alert(1)</script>`],
  [
    'YAML',
    'nodes:\n  - id: trigger\n    manual: {}\n  - id: mail\n    skill: {name: send_email, parameters: {to: a@example.com}}',
  ],
  ['an attempt to activate it', JSON.stringify({ nodes, active: false, suspend: false })],
])('%s is read, with the switches of the draft', (_what, answer) => {
  expect(readProposal(answer, draft)).toEqual({ spec: { nodes, active: true, suspend: true } });
});

test('fields stand in the order of the draft, so that none seems to be moved', () => {
  const before = {
    displayName: 'Orders',
    active: false,
    nodes: [
      { id: 'trigger', manual: {} },
      { id: 'mail', skill: { name: 'send_email', credential: 'smtp', parameters: { to: 'a', body: 'b' } } },
    ],
  };
  const answer = {
    nodes: [
      { skill: { parameters: { body: 'b', to: 'a' }, name: 'send_email', credential: 'smtp' }, id: 'mail' },
      { manual: {}, id: 'trigger' },
    ],
    displayName: 'Orders',
  };
  const read = readProposal(JSON.stringify(answer), before);
  const { displayName, active, nodes: written } = before;
  expect(JSON.stringify(read)).toBe(
    JSON.stringify({ spec: { displayName, active, nodes: written.toReversed() } }),
  );
});

const deep = `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`;
const bomb = `a: &a [x, x]\nb: &b [*a, *a]\nnodes: [*b, *b]`;

test.each([
  ['an empty answer', '', 'no workflow'],
  ['prose', 'I cannot help with that.', 'no workflow'],
  ['invalid JSON', '{"nodes": [', 'no workflow'],
  ['a list', '[1, 2]', 'no workflow'],
  ['nodes that are no list', '{"nodes": {"length": 3}}', 'no workflow'],
  ['HTML', '<html><body onload="alert(1)">Sign in</body></html>', 'no workflow'],
  ['a huge answer', 'x'.repeat(100_001), '100001 characters'],
  [
    'too many nodes',
    JSON.stringify({ nodes: Array.from({ length: 101 }, (_, at) => ({ id: `n${at}` })) }),
    '101 nodes',
  ],
  [
    'too many edges, whose layout would take minutes',
    JSON.stringify({
      nodes: [{ id: 'a' }],
      edges: Array.from({ length: 301 }, () => ({ from: 'a', to: 'b' })),
    }),
    '301 edges',
  ],
  [
    'a value of a wrong type',
    '{"nodes": [{"id": "a", "agent": null}]}',
    'nodes[0].agent: agent must be an object.',
  ],
  ['deep nesting', `{"nodes": [{"id": "a", "manual": ${deep}}]}`, 'levels deep'],
  ['a prototype', '{"nodes": [{"id": "a", "__proto__": {"x": 1}}]}', '__proto__'],
  ['a constructor', '{"nodes": [{"id": "a", "manual": {"constructor": {"prototype": {}}}}]}', 'constructor'],
  ['nodes without IDs', '{"nodes": [{"manual": {}}]}', 'ID of its own'],
  ['two nodes of one ID', '{"nodes": [{"id": "a"}, {"id": "a"}]}', 'ID of its own'],
  ['nodes that are null', '{"nodes": [null]}', 'nodes[0] must be an object.'],
  ['an edge to nowhere', '{"nodes": [{"id": "a"}], "edges": [{"from": "a", "to": "b"}]}', 'ID of its own'],
  ['a key', '{"nodes": [{"id": "a", "manual": {"k": "sk-abcdefghijklmnopqrstuvwx"}}]}', 'looks like a key'],
  ['YAML whose aliases multiply', bomb, 'no workflow'],
])('%s is refused with the reason', (_what, answer, reason) => {
  expect(readProposal(answer, draft)).toEqual({ refusal: expect.stringContaining(reason) as string });
});
