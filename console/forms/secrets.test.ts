import { expect, test } from 'vitest';
import { missingSecret } from './secrets.ts';

test('a Secret that does not exist is named, with the command that creates it', () => {
  expect(missingSecret({ name: 'chat-token', key: 'token' }, ['mail'], 'shop')).toEqual({
    message: 'There is no Secret chat-token in shop, so the workflow cannot be activated. Create it:',
    command: 'kubectl create secret generic chat-token --namespace shop --from-literal=token=VALUE',
  });
  expect(missingSecret({ name: 'chat-token' }, [], 'shop')?.command).toContain('--from-literal=KEY=VALUE');
});

test.each([
  [{ name: 'mail', key: 'token' }, ['mail']],
  [{ name: 'mail', key: 'token' }, undefined],
  [{ name: '', key: 'token' }, []],
  [undefined, []],
])('nothing is missing with %j of the Secrets %j', (value, names) => {
  expect(missingSecret(value, names, 'shop')).toBeUndefined();
});
