import { expect, test } from 'vitest';
import { missingRight } from './admit.ts';

test.each([
  [
    { verb: 'create', resource: 'workflows', subresource: 'execute', namespace: 'shop', name: 'orders' },
    'Missing: verb create on workflows.windlass.dev/execute in namespace shop. Check it with: kubectl auth can-i create workflows.windlass.dev --subresource=execute -n shop',
  ],
  [
    { verb: 'list', resource: 'workflowruns', namespace: 'shop', name: '' },
    'Missing: verb list on workflowruns.windlass.dev in namespace shop. Check it with: kubectl auth can-i list workflowruns.windlass.dev -n shop',
  ],
] as const)('a refused caller learns the missing right as in a Role: %j', (wanted, says) => {
  expect(missingRight('forbidden', wanted)).toEqual({ more: says });
});
