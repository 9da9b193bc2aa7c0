import { expect, test } from 'vitest';
import { missingRight } from './admit.ts';

test.each([
  [
    { verb: 'create', resource: 'workflows', subresource: 'execute', namespace: 'shop', name: 'orders' },
    'It needs the verb create on workflows.windlass.dev/execute in the namespace shop. To ask Kubernetes: kubectl auth can-i create workflows.windlass.dev --subresource=execute -n shop',
  ],
  [
    { verb: 'list', resource: 'workflowruns', namespace: 'shop', name: '' },
    'It needs the verb list on workflowruns.windlass.dev in the namespace shop. To ask Kubernetes: kubectl auth can-i list workflowruns.windlass.dev -n shop',
  ],
] as const)('who lacks a right is told which one, as a Role names it: %j', (wanted, says) => {
  expect(missingRight('forbidden', wanted)).toEqual({ more: says });
});
