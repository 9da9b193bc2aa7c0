import { describe, expect, test } from 'vitest';
import type { WorkflowSpec } from '../../api/workflow.ts';
import { mocksFor, openCallbacks } from './mocks.ts';

const skill = (id: string, name: string) => ({ id, skill: { name } });
const specOf = (...nodes: object[]) =>
  ({ active: true, nodes: [{ id: 'start', manual: {} }, ...nodes] }) as WorkflowSpec;

const agent = {
  id: 'ask',
  agent: {
    credential: 'llm',
    model: 'small',
    prompt: 'x',
    tools: [{ skill: 'send_email', name: 'mail' }, { skill: 'set' }, { workflow: 'other' }],
  },
};
const workflows = new Map([
  ['orders', specOf(skill('call', 'http_request'), skill('values', 'set'), agent)],
  ['other', specOf(skill('call', 'send_message'))],
]);

const PLACES = [
  { workflow: 'orders', node: 'call' },
  { workflow: 'orders', node: 'ask', tool: 'mail' },
  { workflow: 'other', node: 'call' },
];

describe('every step and tool that contacts another system', () => {
  test('is not done, also in workflows that are called', () => {
    const output = { text_content: 'not done: effects are not allowed', data_content: null };
    expect(mocksFor(workflows, [], false)).toEqual(PLACES.map((place) => ({ ...place, output })));
  });

  test('is done where effects are allowed', () => {
    expect(mocksFor(workflows, [], true)).toEqual(PLACES.map((place) => ({ ...place, real: true })));
  });

  test('has the mock that was given in place of both', () => {
    const given = { workflow: 'orders', node: 'call', output: { data_content: 1 } };
    expect(mocksFor(workflows, [given], true)).toEqual([
      given,
      { workflow: 'orders', node: 'ask', tool: 'mail', real: true },
      { workflow: 'other', node: 'call', real: true },
    ]);
  });
});

test('a callback needs a mock, and other waits do not', () => {
  const spec = specOf(
    { id: 'approved', wait: { callback: {} } },
    { id: 'paid', wait: { callback: {} } },
    { id: 'pause', wait: { duration: '1s' } },
  );
  const mocks = [{ workflow: 'orders', node: 'paid', output: {} }];
  expect(openCallbacks('orders', spec, mocks)).toEqual(['approved']);
});
