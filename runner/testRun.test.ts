import { expect, test } from 'vitest';
import { callbackToken } from '../api/callback.ts';
import { revision, webhook } from '../test/support/runner/passes.ts';
import { mockShown } from './testRun.ts';

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
