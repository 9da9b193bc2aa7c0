import { expect, test } from 'vitest';
import type { WorkflowNode } from '../../api/workflow.ts';
import { usageOf, usesText } from './usage.ts';

const mail = (credential: string): WorkflowNode => ({
  id: 'mail',
  displayName: 'Send it',
  skill: { name: 'send_email', credential },
});
const ask: WorkflowNode = {
  id: 'ask',
  agent: {
    credential: 'model',
    model: 'm',
    prompt: 'p',
    tools: [{ skill: 'http_request', credential: 'api' }],
    fallback: [{ credential: 'other', model: 'm' }],
  },
};
const workflow = (name: string, nodes: WorkflowNode[]) => ({
  metadata: { name, uid: `uid of ${name}` },
  spec: { active: true, nodes },
});
const draft = (name: string, body: unknown, uid = `uid of ${name}`) => ({
  metadata: { name },
  spec: { base: { uid, body: '{}' }, body: typeof body === 'string' ? body : JSON.stringify(body) },
});
const SENT = [{ id: 'mail', name: 'Send it' }];

test('a credential is used by nodes, by the tools of agents, and by their other models', () => {
  const usage = usageOf([workflow('orders', [mail('smtp'), ask])]);
  expect([...usage.keys()]).toEqual(['smtp', 'model', 'api', 'other']);
  expect(usage.get('smtp')).toEqual([{ workflow: 'orders', displayName: 'orders', nodes: SENT }]);
});

test('a draft counts where the published version does not use the credential', () => {
  const workflows = [workflow('orders', [mail('smtp')]), workflow('refunds', [])];
  const drafts = ['orders', 'refunds'].map((name) => draft(name, { spec: { nodes: [mail('smtp')] } }));
  const uses = usageOf(workflows, drafts).get('smtp') ?? [];
  expect(uses).toEqual([
    { workflow: 'orders', displayName: 'orders', nodes: SENT },
    { workflow: 'refunds', displayName: 'refunds', nodes: SENT, isDraft: true },
  ]);
  expect(usesText(uses)).toBe('1 workflow and 1 draft');
  expect([usesText(uses.slice(0, 1)), usesText(uses.slice(1)), usesText([])]).toEqual([
    '1 workflow',
    '1 draft',
    'No workflow',
  ]);
});

test.each<[string, unknown, uid?: string]>([
  ['of an earlier workflow of the name', { spec: { nodes: [mail('smtp')] } }, 'another'],
  ['that is no JSON', '{'],
  ['whose nodes are no list', { spec: { nodes: { id: 'mail' } } }],
  ['whose nodes are no objects', { spec: { nodes: [null, 5, { id: 3, skill: { credential: 'smtp' } }] } }],
  [
    'whose credentials are no names',
    { spec: { nodes: [{ id: 'a', skill: { credential: 5 }, agent: { tools: {} } }] } },
  ],
])('a draft %s uses nothing', (_what, body, uid) => {
  expect(usageOf([workflow('orders', [])], [draft('orders', body, uid)]).size).toBe(0);
});
