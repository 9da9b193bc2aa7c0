import { expect, test } from 'vitest';
import { callbackToken } from '../api/callback.ts';
import { revision, webhook } from '../test/support/runner/passes.ts';
import { mockedNode, mocksOf, mockShown } from './testRun.ts';

const order = { id: 'order', skill: { name: 'http_request', parameters: {} } };
const [step] = revision([webhook, order]).steps;

test('the record of a mocked node has its parameters without URLs of callbacks', () => {
  const key = { id: 'k', key: new Uint8Array(32) };
  const token = callbackToken('p', key, { run: 'orders-1', acceptedAt: 1, node: 'done' });
  const parameters = { body: { what: 'lamp', callback: `https://hooks.example.com/callback/${token}` } };
  expect(mockShown([{ node: 'order' }], step!, { parameters })).toEqual({
    parameters: { body: { what: 'lamp', callback: '[URL of a callback]' } },
  });
  expect(mockShown([{ node: 'order', real: true }], step!, { parameters })).toBeUndefined();
});

test('what has no mock is real in a run that executes it, and refused in others', () => {
  const tools = [{ skill: 'http_request' }, { skill: 'send_email', credential: 'smtp' }];
  const nodes = [webhook, order, { id: 'ask', agent: { credential: 'llm', model: 'm', prompt: 'p', tools } }];
  const { steps } = revision(nodes);
  const agent = steps.find(({ id }) => id === 'ask')!;
  const pinned = { node: 'order', output: { text_content: 'pinned' } };
  const tool = { node: 'ask', tool: 'http_request', output: {} };
  const run = (unmocked: 'Fail' | 'Execute') => ({
    workflow: 'orders',
    testing: { mocks: [pinned, tool], unmocked },
  });
  const fields = { parameters: { method: 'GET', url: 'https://example.com' } };
  for (const unmocked of ['Fail', 'Execute'] as const)
    expect(mockedNode(run(unmocked), step!, fields)?.output.text_content).toBe('pinned');
  expect(mocksOf(run('Execute'), 'other')).toEqual([{ node: 'other', real: true }]);
  expect(mocksOf(run('Execute'), 'ask')).toContain(tool);
  expect(mockedNode(run('Execute'), agent, {})).toBeUndefined();
  expect(() => mockedNode(run('Fail'), agent, {})).toThrow('none for tool send_email of node ask');
});

test('a child run executes what has no mock if its parent does', () => {
  const child = {
    workflow: 'invoice',
    parent: { path: ['orders', 'invoice'] },
    testing: { mocks: [{ node: 'order', output: {} }], unmocked: 'Execute' },
  };
  expect(mocksOf(child as unknown as Parameters<typeof mocksOf>[0], 'order')).toEqual([
    { node: 'order', real: true },
  ]);
});
