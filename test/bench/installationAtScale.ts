/**
 * An installation of many projects without nodes: API server, run store, two gateways and the operator as
 * processes of their own. Pools become available as soon as they are asked for.
 */
import { API_VERSION } from '../../api/group.ts';
import type { Workflow } from '../../api/kinds.ts';
import type { WorkflowSpec } from '../../api/workflow.ts';
import { createCache, type Cache } from '../../kube/cache.ts';
import { findCondition } from '../../kube/conditions.ts';
import { workflows } from '../../operator/shared/resources.ts';
import { ADMISSION } from '../support/cluster/chart.ts';
import { kubectl } from '../support/cluster/kubectl.ts';
import { writeKubeconfig, tokenOf } from '../support/cluster/users.ts';
import type { GatewayProcess } from '../support/gateway/gatewayProcess.ts';
import { createCollectedLog } from '../support/logs/collectedLog.ts';
import { startReplicas } from '../support/operator/gatewayReplicas.ts';
import {
  startOperatorHarness,
  SYSTEM,
  WHOLE_POOL,
  type OperatorHarness,
} from '../support/operator/operatorHarness.ts';
import { startOperatorProgram, type OperatorProgram } from '../support/operator/operatorProgram.ts';
import { pollUntil } from '../support/time/poll.ts';
import { inParallel } from './inParallel.ts';

export type Installation = {
  harness: OperatorHarness;
  gateways: GatewayProcess[];
  /** Resolves with their namespaces. */
  createProjects(projects: number): Promise<string[]>;
  /** Creates so many workflows in each of the namespaces, in all of them at the same time. */
  createWorkflows(namespaces: readonly string[], workflowsEach: number): Promise<void>;
  /** The same with one `kubectl apply`, which sends one request after the other, at most 50 a second. */
  applyWorkflows(namespaces: readonly string[], workflowsEach: number): Promise<void>;
  /** Starts the operator, and resolves when it listens and its caches are filled. */
  startOperator(env?: Record<string, string>, pod?: string): Promise<OperatorProgram>;
  /** All workflows, as the API server last told of them. */
  workflows: Pick<Cache<Workflow>, 'get' | 'list' | 'onChange'>;
  /**
   * Resolves when every created workflow is `Ready` at its current generation. Throws with the last lines of
   * its log if an operator ends.
   */
  untilReady(timeoutMs: number): Promise<void>;
  close(): Promise<void>;
};

export const SPEC: WorkflowSpec = {
  active: true,
  nodes: [
    { id: 'trigger', webhook: { path: 'new' } },
    {
      id: 'sum',
      skill: { name: 'set', parameters: { values: { total: 'nodes.trigger.data_content.total * 1.2' } } },
    },
    { id: 'reply', response: { body: 'ok' } },
  ],
};

const AT_ONCE = 32;
const APPLY_WITHIN_MS = 1_200_000;
/** Of the log of an operator that ended. */
const LAST_LINES = 5;
const TEMPLATES = [...ADMISSION, 'flow-control', 'gateway', 'gateway-rbac'];
/** The half of a limit of 1 GiB, as the chart sets it. */
const HEAP = '--max-old-space-size=512';
const POOL = { ...WHOLE_POOL, RUNNER_REPLICAS: '1' };

function isReady({ metadata, status }: Workflow): boolean {
  const ready = findCondition(status?.conditions, 'Ready');
  return ready?.status === 'True' && ready.observedGeneration === metadata.generation;
}

export async function openInstallation(): Promise<Installation> {
  const stopping = new AbortController();
  const closers: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    stopping.abort();
    for (const end of closers.splice(0).toReversed()) await end();
  };
  try {
    const harness = await startOperatorHarness({ templates: TEMPLATES, env: POOL, triesCredentials: true });
    closers.push(() => harness.stop());
    const kubeconfigOf = async (name: string): Promise<string> =>
      writeKubeconfig(harness.server, name, await tokenOf(harness.client, SYSTEM, name));
    const gateways = await startReplicas(harness, await kubeconfigOf('windlass-gateway'));
    closers.push(() => Promise.all(gateways.map((gateway) => gateway.stop())));
    // The fake gateway would compute the digest of all routes with each of them.
    await harness.gateway.stop();
    const found = createCache({ client: harness.client, resource: workflows, log: createCollectedLog() });
    const following = found.start(stopping.signal);
    closers.push(() => following);
    const kubeconfigPath = await kubeconfigOf('windlass-operator');
    const operators: OperatorProgram[] = [];
    let created = 0;
    return {
      harness,
      gateways,
      workflows: found,
      createProjects: (projects) => createProjects(harness, projects),
      createWorkflows: async (namespaces, each) => {
        await createWorkflows(harness, namespaces, each);
        created += namespaces.length * each;
      },
      applyWorkflows: async (namespaces, each) => {
        await applyWorkflows(harness, namespaces, each);
        created += namespaces.length * each;
      },
      startOperator: async (env = {}, pod = 'operator-1') => {
        const operator = await startOperatorProgram({
          kubeconfigPath,
          redisURL: harness.redis.url,
          namespace: SYSTEM,
          pod,
          env: { ...POOL, ...env },
          nodeArgs: [HEAP, ...(process.env['BENCH_NODE_ARGS']?.split(' ') ?? [])],
        });
        operators.push(operator);
        closers.push(() => operator.stop());
        return operator;
      },
      untilReady: async (timeoutMs) => {
        const ended = (): OperatorProgram | undefined => operators.find((operator) => !operator.isRunning());
        const areReady = (): boolean => found.list().length === created && found.list().every(isReady);
        const isSettled = (): boolean => ended() !== undefined || areReady();
        await pollUntil('every workflow being ready', isSettled, { timeoutMs, everyMs: 50 });
        const log = ended()?.log.slice(-LAST_LINES).join('\n');
        if (log !== undefined) throw new Error(`the operator ended while it was measured:\n${log}`);
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function createProjects(harness: OperatorHarness, projects: number): Promise<string[]> {
  const names: string[] = [];
  await inParallel(projects, AT_ONCE, async () => {
    names.push((await harness.createProject()).namespace);
  });
  return names;
}

async function createWorkflows(
  { client }: OperatorHarness,
  namespaces: readonly string[],
  workflowsEach: number,
): Promise<void> {
  const metadata = namesOf(namespaces, workflowsEach);
  await inParallel(metadata.length, AT_ONCE, async (index) => {
    await client.create(workflows, { metadata: metadata[index] ?? { name: '' }, spec: SPEC });
  });
}

async function applyWorkflows(
  { server }: OperatorHarness,
  namespaces: readonly string[],
  workflowsEach: number,
): Promise<void> {
  const kind = { apiVersion: API_VERSION, kind: 'Workflow', spec: SPEC };
  const items = namesOf(namespaces, workflowsEach).map((metadata) => ({ ...kind, metadata }));
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  await kubectl(server, ['apply', '-f', '-'], { input, timeoutMs: APPLY_WITHIN_MS });
}

/** Names in each of the namespaces, of which one is taken after the other. */
function namesOf(namespaces: readonly string[], each: number): { namespace: string; name: string }[] {
  return Array.from({ length: namespaces.length * each }, (_, index) => ({
    namespace: namespaces[index % namespaces.length] ?? '',
    name: `flow-${Math.floor(index / namespaces.length)}`,
  }));
}
