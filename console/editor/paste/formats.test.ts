import { expect, test } from 'vitest';
import { formatOf } from './formats.ts';
import { convertN8nExport } from './n8n.ts';

const MANIFEST = `apiVersion: windlass.dev/v1alpha1
kind: Workflow
spec:
  nodes:
    - id: one
      wait: { duration: 1m }
`;
const BROKEN = MANIFEST.replace('id: one', 'id: one: two');
const N8N = {
  name: 'Orders',
  nodes: [
    { id: '1', name: 'Hook', type: 'n8n-nodes-base.webhook', parameters: {} },
    { id: '2', name: 'Ask', type: '@n8n/n8n-nodes-langchain.agent', parameters: {} },
  ],
  connections: { Hook: { main: [[{ node: 'Ask', type: 'main', index: 0 }]] } },
};
const json = (value: unknown) => JSON.stringify(value, null, 2);

test.each<[what: string, text: string, format: string | undefined]>([
  ['a curl command', 'curl https://example.com', 'curl command'],
  ['a curl command behind a prompt', '  $ curl -X POST example.com', 'curl command'],
  ['a Workflow in YAML', MANIFEST, 'manifest'],
  ['a Workflow whose YAML is broken', BROKEN, 'manifest'],
  ['YAML of another kind', 'apiVersion: v1\nkind: Secret\n', undefined],
  ['copied nodes in JSON', json({ nodes: [{ id: 'one', wait: {} }], edges: [] }), 'manifest'],
  [
    'a Workflow whose texts look like an export',
    json({ nodes: [{ id: 'one', fail: { message: '"connections"' } }], edges: [] }),
    'manifest',
  ],
  ['an export of n8n', json(N8N), 'n8n workflow'],
  ['nodes that were copied in n8n', json({ nodes: N8N.nodes, connections: {}, pinData: {} }), 'n8n workflow'],
  ['a list of exports', json([N8N]), 'n8n workflow'],
  ['an export within an answer of its API', json({ data: N8N }), 'n8n workflow'],
  ['prose', 'please curl up with a book', undefined],
  ['nothing', '', undefined],
  ['JSON that is cut', json(N8N).slice(0, 200), undefined],
  ['JSON without nodes', '{"connections": {}}', undefined],
  ['connections that are no object', json({ nodes: [], connections: [] }), undefined],
  ['deeply nested lists', `${'['.repeat(20_000)}"connections"`, undefined],
  ['a text beyond the limit', `curl ${'x'.repeat(1_000_000)}`, undefined],
])('%s is recognized as it should be', (_what, text, format) => {
  expect(formatOf(text)?.name).toBe(format);
});

test.each<[what: string, text: string, becomes: object]>([
  ['a curl command', 'curl example.com', { kind: 'step', node: { id: 'request' } }],
  ['a wrong curl command', 'curl ftp://example.com', { kind: 'problem' }],
  ['a manifest', MANIFEST, { kind: 'nodes', fragment: { nodes: [{ id: 'one' }] } }],
  ['a broken manifest', BROKEN, { kind: 'problem', problem: expect.stringMatching(/in line 5: /) }],
  ['a manifest without nodes', 'kind: Workflow\n', { kind: 'problem' }],
])('%s is converted', async (_what, text, becomes) => {
  expect((await formatOf(text)?.load())?.(text)).toMatchObject(becomes);
});

test('an export of n8n becomes no broken nodes', () => {
  expect(convertN8nExport(json(N8N))).toEqual({ kind: 'n8n', nodes: 2 });
});
