/**
 * What the contract is tried on: a gateway process with a real API server and run store, a workflow with a
 * webhook and one with a bot, a caller with all rights in its namespace, a run that is recorded. Runs that
 * are started end soon, as if a runner were there.
 */
import { GROUP } from '../../api/group.ts';
import type { WorkflowRun } from '../../api/kinds.ts';
import { namespacedResource, serviceAccounts } from '../../kube/resource.ts';
import { advance } from '../../runs/advance.ts';
import { claimRuns } from '../../runs/claim.ts';
import type { RunStoreConnection } from '../../store/connection.ts';
import { putBot } from '../support/gateway/botRoutes.ts';
import {
  NAMESPACE,
  startGatewayHarness,
  PROJECT,
  putRoute,
  type GatewayHarness,
} from '../support/gateway/gatewayHarness.ts';
import { pollUntil } from '../support/time/poll.ts';
import { tokenOf } from '../support/cluster/users.ts';

const workflowRuns = namespacedResource<WorkflowRun>(GROUP, 'v1alpha1', 'WorkflowRun', 'workflowruns');

const RBAC = '/apis/rbac.authorization.k8s.io/v1';

/** The run of the description's examples. */
const RECORDED = { namespace: NAMESPACE, name: 'orders-4f7k2m' };

export type ContractHarness = {
  publicURL: string;
  internalURL: string;
  token: string;
  close: () => Promise<void>;
};

export async function startContractHarness(): Promise<ContractHarness> {
  const harness = await startGatewayHarness();
  const ended = new AbortController();
  const runner = endRuns(harness.runs, ended.signal);
  const close = async () => {
    ended.abort();
    await runner;
    await harness.close();
  };
  try {
    await putRoute(harness.client, 'orders');
    await putBot(harness.client, 'answers', 'mailbox');
    await pollUntil('the route', async () => (await fetch(harness.hook('orders'))).status === 405, {
      timeoutMs: 60_000,
    });
    await writeRecord(harness);
    const { publicURL, internalURL } = harness.gateway;
    return { publicURL, internalURL, token: await makeCaller(harness), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function writeRecord({ client }: GatewayHarness): Promise<void> {
  await client.create(workflowRuns, {
    metadata: RECORDED,
    spec: { workflow: 'orders', trigger: { type: 'webhook' } },
  });
  const output = { text_content: 'Thank you.', data_content: { total: 3 } };
  const status = {
    phase: 'Failed',
    trigger: 'webhook',
    acceptedTime: '2026-01-01T00:00:00.000Z',
    completionTime: '2026-01-01T00:00:01.000Z',
    reason: 'NodeFailed',
    message: 'A node failed.',
    nodes: [
      { id: 'agent_1', phase: 'Succeeded', attempts: 1, output },
      { id: 'mail', phase: 'Failed', attempts: 3, reason: 'Refused', message: 'No.' },
    ],
  };
  await client.patch(workflowRuns, RECORDED, { status }, { type: 'merge', subresource: 'status' });
}

/** Allowed in all namespaces, so that names that nobody has get further than to a refusal. */
async function makeCaller({ client }: GatewayHarness): Promise<string> {
  const metadata = { namespace: NAMESPACE, name: 'caller' };
  await client.create(serviceAccounts, { metadata });
  const rules = [
    { apiGroups: [GROUP], resources: ['workflows/execute'], verbs: ['create'] },
    { apiGroups: [GROUP], resources: ['workflowruns'], verbs: ['get', 'list', 'delete'] },
  ];
  const binding = {
    metadata: { name: 'caller' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'caller' },
    subjects: [{ kind: 'ServiceAccount', ...metadata }],
  };
  await client.raw('POST', `${RBAC}/clusterroles`, { body: { metadata: { name: 'caller' }, rules } });
  await client.raw('POST', `${RBAC}/clusterrolebindings`, { body: binding });
  return tokenOf(client, NAMESPACE, metadata.name, { audiences: ['windlass'] });
}

/** Claims what waits and ends it, each run with the output of one node. */
async function endRuns(runs: RunStoreConnection, signal: AbortSignal): Promise<void> {
  await pollUntil(
    'the end',
    async () => {
      const claimed = await claimRuns(runs, { project: PROJECT, runner: 'contract', max: 100 });
      const claims = claimed.outcome === 'claimed' ? claimed.claims : [];
      const output = { text_content: 'Done', data_content: { n: 1 } };
      await Promise.all(
        claims.map(({ token, state }) =>
          advance(
            runs,
            { project: PROJECT, run: state.run, token },
            {
              checkpoints: [
                { id: 'agent_1', phase: 'Succeeded', attempts: 1, startedAt: 1_000, endedAt: 2_000, output },
              ],
              end: { phase: 'Succeeded' },
            },
          ),
        ),
      );
      return signal.aborted;
    },
    { timeoutMs: 3_600_000, everyMs: 20 },
  );
}
