import { expect, test } from 'vitest';
import { actionLabel, edgeLabel, LOOPS, nodeName, refusedOptions, identifiedName } from './kinds.ts';

const NONE: string[] = [];
const OF_CALLS = ['timeout', 'retry', 'effect'];

test.each([
  ['an agent', { agent: { credential: 'model', model: 'm', prompt: 'p' } }, NONE],
  ['a skill', { skill: { name: 'send_email' } }, NONE],
  ['the skill set', { skill: { name: 'set' } }, OF_CALLS],
  ['code', { code: { source: 'return 1;' } }, OF_CALLS],
  ['a wait', { wait: { duration: '5m' } }, OF_CALLS],
  ['a group', { group: {} }, ['effect']],
  ['a response', { response: { body: 'ok' } }, [...OF_CALLS, ...LOOPS]],
  ['a fail node', { fail: { reason: 'Failed', message: 'no' } }, [...OF_CALLS, 'onError', ...LOOPS]],
  ['a trigger', { webhook: { path: 'x' } }, [...OF_CALLS, 'onError', ...LOOPS]],
])('%s is offered no option that the API server refuses', (_sentence, kind, refused) => {
  expect(refusedOptions({ id: 'a', ...kind })).toEqual(refused);
});

test.each([
  ['Group', { group: {} }],
  ['Reply to email', { skill: { name: 'reply_email' } }],
  ['HTTP request', { skill: { name: 'http_request' } }],
  ['Skill', { skill: { name: '' } }],
  ['For each item', { group: {}, forEach: { items: '{{ $vars.list }}' } }],
  ['Repeat until', { group: {}, repeat: { until: 'true', limit: 3 } }],
  ['Wait 10m', { wait: { duration: '10m' } }],
  ['Wait for a callback', { wait: { callback: {} } }],
  ['Wait', { wait: {} }],
  ['Wait until a time', { wait: { until: '{{ $vars.start }}' } }],
])('the card says %s', (label, kind) => {
  expect(actionLabel({ id: 'a', ...kind })).toBe(label);
});

test.each([
  ['', {}],
  ['on failure', { after: 'Failure' as const }],
  ['if nodes.trigger.data_content.ok', { when: 'nodes.trigger.data_content.ok' }],
  ['on failure, if a', { after: 'Failure' as const, when: 'a' }],
])('the label of a connection is "%s"', (label, edge) => {
  expect(edgeLabel(edge)).toBe(label);
});

test.each([
  [{ id: 'mail' }, 'mail'],
  [{ id: 'mail', displayName: 'mail' }, 'mail'],
  [{ id: 'mail', displayName: 'Send it' }, 'Send it (mail)'],
  [{ id: 'mail', displayName: '\u202eit' }, '[U+202E]it (mail)'],
  [{ id: 'mail', displayName: '\u{1f4e6}'.repeat(60) }, `${'\u{1f4e6}'.repeat(60)} (mail)`],
  [{ id: 'mail', displayName: '\u{1f4e6}'.repeat(61) }, `${'\u{1f4e6}'.repeat(60)}… (mail)`],
])('%j is identified as %s', (node, name) => {
  expect(identifiedName(node)).toBe(name);
});

test.each([
  ['mail', 'mail'],
  ['gone', 'gone'],
  ['named', 'Send it'],
  ['hidden', '[U+202E]it'],
  ['long', `${'x'.repeat(60)}…`],
  ['one', 'Twice (one)'],
  ['two', 'Twice (two)'],
  ['other', 'mail (other)'],
])('a sentence names the node %s as %s', (id, name) => {
  const nodes = [
    { id: 'named', displayName: 'Send it' },
    { id: 'hidden', displayName: '\u202eit' },
    { id: 'long', displayName: 'x'.repeat(256) },
    { id: 'one', displayName: 'Twice' },
    { id: 'two', displayName: 'Twice' },
    { id: 'other', displayName: 'mail' },
    { id: 'mail' },
  ];
  expect(nodeName(id, nodes)).toBe(name);
});
