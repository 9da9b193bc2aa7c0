/**
 * Executes one run of a workflow in this process, with the runner and the scripts of the run store, against a
 * Redis of its own. Nothing is recorded anywhere.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import type { Mock } from '../../api/mock.ts';
import { isTerminal } from '../../api/phase.ts';
import { revisionOf } from '../../api/revision.ts';
import type { WorkflowSpec } from '../../api/workflow.ts';
import type { Log } from '../../kube/log.ts';
import { createSandbox } from '../../nodes/code/sandbox.ts';
import { createEgress } from '../../nodes/egress/egress.ts';
import type { EgressRules } from '../../nodes/egress/rules.ts';
import { limitsOf } from '../../operator/store/limits.ts';
import { createMetrics } from '../../runner/metrics.ts';
import { startRunner, type Runner } from '../../runner/runner.ts';
import { putCallee } from '../../runs/callees.ts';
import { followEvents } from '../../runs/events.ts';
import { openProject } from '../../runs/project.ts';
import { readRun } from '../../runs/read.ts';
import { putRevision } from '../../runs/revisions.ts';
import { submit } from '../../runs/submit.ts';
import { setWorkflowLimits } from '../../runs/limits.ts';
import type { RunEvent } from '../../runs/types/event.ts';
import type { RunState } from '../../runs/types/run.ts';
import { putVariables } from '../../runs/variables.ts';
import { putCallbackSettings } from '../../store/callbacks.ts';
import { connectRunStore, isUnavailable, type RunStoreConnection } from '../../store/connection.ts';
import { localCredentials } from './credentials.ts';
import type { LocalProject } from './project.ts';
import { startLocalRedis } from './redis.ts';

export type LocalRun = {
  workflow: string;
  /** The output of the trigger as JSON text; empty: the test data of the trigger. */
  input: string;
  mocks: readonly Mock[];
  egress: EgressRules;
  /** Called for each live event. */
  onEvent: (event: RunEvent) => void;
  /** Ends the run as cancelled. */
  signal: AbortSignal;
};

/** The namespace that expressions see as `$run.project`. */
const NAMESPACE = 'local';
const RUNNER = 'local';
/** More runs than a workflow and its child runs have at a time. */
const CONCURRENCY = 50;
const CONNECT_MS = 5_000;
/** Nothing answers there: a mock takes the place of a callback. */
const CALLBACKS_URL = 'http://callbacks.invalid';

/** Executes the run and gives its last state. */
export async function executeLocally(project: LocalProject, run: LocalRun): Promise<RunState> {
  const redis = await startLocalRedis();
  const conn = connectRunStore({ url: redis.socket, name: RUNNER });
  try {
    await conn.ready(AbortSignal.timeout(CONNECT_MS));
    return await executeIn(conn, project, run);
  } finally {
    await conn.close();
    await redis.stop();
  }
}

async function executeIn(conn: RunStoreConnection, project: LocalProject, run: LocalRun): Promise<RunState> {
  const uid = randomUUID();
  await openProject(conn, uid);
  await putVariables(conn, uid, project.variables.values);
  const key = { id: 'local', key: randomBytes(32) };
  await putCallbackSettings(conn, uid, { url: CALLBACKS_URL, key, keys: [key] });
  for (const [name, spec] of project.workflows) await deploy(conn, uid, name, spec);
  const sandbox = createSandbox();
  const runner = startLocalRunner(conn, uid, project, run.egress, sandbox);
  try {
    const name = await submitRun(conn, uid, run);
    for await (const event of followEvents(conn, uid, name, { signal: run.signal })) run.onEvent(event);
    const state = await readRun(conn, uid, name);
    if (!state || isUnavailable(state)) throw new Error('the run store lost the run');
    return isTerminal(state.phase) ? state : { ...state, phase: 'Cancelled' };
  } finally {
    await runner.stop(0);
    await sandbox.close();
  }
}

/** As the operator puts a valid workflow into the run store. Revision and uid are named like the workflow. */
async function deploy(
  conn: RunStoreConnection,
  uid: string,
  name: string,
  spec: WorkflowSpec,
): Promise<void> {
  const metadata = { name, uid: name };
  await putRevision(conn, uid, name, revisionOf(spec));
  await setWorkflowLimits(conn, uid, limitsOf({ metadata, spec } as Parameters<typeof limitsOf>[0]));
  await putCallee(conn, uid, { name, workflowUid: name, revision: name });
}

function startLocalRunner(
  conn: RunStoreConnection,
  uid: string,
  project: LocalProject,
  egress: EgressRules,
  sandbox: ReturnType<typeof createSandbox>,
): Runner {
  return startRunner({
    conn,
    project: uid,
    namespace: NAMESPACE,
    runner: RUNNER,
    concurrency: CONCURRENCY,
    credentials: localCredentials(project),
    egress: createEgress(egress),
    sandbox,
    metrics: createMetrics({ defaults: false }),
    log: SILENT,
  });
}

/** What happens to the run is in its events and its state. */
const nothing = () => undefined;
const SILENT: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };

async function submitRun(conn: RunStoreConnection, project: string, run: LocalRun): Promise<string> {
  const { workflow, input, mocks } = run;
  const submitted = await submit(conn, {
    project,
    workflow,
    workflowUid: workflow,
    revision: workflow,
    trigger: 'execute',
    input,
    bodyHash: '',
    test: true,
    testing: { mocks: [...mocks] },
  });
  if (submitted.outcome !== 'accepted') throw new Error(`the run was not accepted: ${submitted.outcome}`);
  return submitted.run;
}
