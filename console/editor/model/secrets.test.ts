import { expect, test } from 'vitest';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { hasSecret, placeOfSecret } from './secrets.ts';

const key = (text: string) => text.repeat(8);

test.each([
  ['a key of a model provider', `sk-proj-${key('a1B2')}`],
  ['an AWS access key', 'AKIAABCDEFGH12345678'],
  ['a private key', '-----BEGIN RSA PRIVATE KEY-----'],
  ['a JSON Web Token', `eyJ${key('ab')}.eyJ${key('cd')}.${key('ef')}`],
])('%s looks like a key', (_what, text) => {
  expect(hasSecret(`Authorization: ${text}`)).toBe(true);
});

test.each(['task-list', 'sk-short', 'AKIA', 'eyJ.eyJ.x', "{{ $('trigger').data_content.token }}", 'BEGIN'])(
  '%s does not',
  (text) => {
    expect(hasSecret(text)).toBe(false);
  },
);

test('the node with a key is named, unless it is published with that key', () => {
  const agent = (prompt: string): WorkflowNode => ({
    id: 'ask',
    agent: { credential: 'llm', model: 'm', prompt },
  });
  const draft = (node: WorkflowNode) => ({ spec: { active: false, nodes: [node] }, positions: {} });
  const withKey = draft(agent(`Use sk-${key('a1B2')}`));
  expect(placeOfSecret(withKey, draft(agent('Hello')))).toBe('ask');
  expect(placeOfSecret(withKey, withKey)).toBeUndefined();
  const described = { ...withKey, spec: { ...withKey.spec, nodes: [], description: `sk-${key('a1B2')}` } };
  expect(placeOfSecret(described, draft(agent('Hello')))).toBe('the workflow');
});

test('a key beside a published one, and a key in a note, are found', () => {
  const [known, other] = [`sk-${key('a1B2')}`, `sk-${key('c3D4')}`];
  const draft = (description: string) => ({ spec: { active: false, nodes: [], description }, positions: {} });
  expect(placeOfSecret(draft(`${known} ${other}`), draft(known))).toBe('the workflow');
  const note = { x: 0, y: 0, width: 240, height: 160, color: 'yellow' as const, text: other };
  const noted = { ...draft(known), notes: { a: note } };
  expect(placeOfSecret(noted, draft(known))).toBe('a note');
  expect(placeOfSecret(noted, noted)).toBeUndefined();
});

test.each(['-eyJ', '.eyJ', 'sk-', '-----BEGIN A'])('a text of many %s is searched in linear time', (part) => {
  const begun = performance.now();
  hasSecret(part.repeat(60_000));
  expect(performance.now() - begun).toBeLessThan(2_000);
});
