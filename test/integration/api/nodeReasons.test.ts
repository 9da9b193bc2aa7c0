/** The commands of docs/execution.md that show why the nodes of runs failed. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient, type KubeClient } from '../../../kube/client.ts';
import { namespaces } from '../../../kube/resource.ts';
import { workflowRuns } from '../../../operator/shared/resources.ts';
import type { ApiServer } from '../../support/cluster/apiserver.ts';
import { kubectl } from '../../support/cluster/kubectl.ts';
import { sharedApiServer } from '../../support/cluster/sharedApiServer.ts';

const namespace = 'shop';
const name = 'orders-4f7k2m';
let server: ApiServer;
let client: KubeClient;
let page: string;

beforeAll(async () => {
  page = await readFile(new URL('../../../docs/execution.md', import.meta.url), 'utf8');
  server = await sharedApiServer();
  client = createClient(server.connection);
  await client.create(namespaces, { metadata: { name: namespace } });
  await client.create(workflowRuns, { metadata: { namespace, name }, spec: { workflow: 'orders' } });
  const nodes = [
    { id: 'trigger', phase: 'Succeeded' },
    { id: 'support', phase: 'Failed', reason: 'BudgetExceeded', message: 'The budget is used up.' },
    { id: 'mail', phase: 'Pending' },
  ];
  const message = 'node support: The budget is used up.';
  const status = { phase: 'Failed', reason: 'NodeFailed', message, nodes };
  const options = { type: 'merge', subresource: 'status' } as const;
  await client.patch(workflowRuns, { namespace, name }, { status }, options);
});
afterAll(async () => {
  await client?.close();
  await server?.stop();
});

/** Executes the command of the page that has this text, as it is there. */
function execute(text: string): Promise<string> {
  const command = page.split('\n').find((line) => line.startsWith('kubectl get wlr') && line.includes(text));
  const words = [...(command ?? '').matchAll(/(?:[^\s']+|'[^']*')+/g)];
  const [, ...args] = words.map(([word]) => word.replaceAll("'", ''));
  return kubectl(server, ['-n', namespace, ...args]);
}

test('kubectl shows the reason of the node that failed, beside the reason of its run', async () => {
  const lines = (await execute('custom-columns')).trim().split('\n');
  expect(lines.map((line) => line.split(/\s+/))).toEqual([
    ['RUN', 'REASON', 'NODE', 'NODE_REASON'],
    [name, 'NodeFailed', 'support', 'BudgetExceeded'],
  ]);
  expect(await execute('jsonpath')).toBe('support: Failed, BudgetExceeded: The budget is used up.\n');
});
