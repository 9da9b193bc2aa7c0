/** A project in a real run store, and runners of it without a cluster: credentials come from a table. */
import type { CodeSandbox } from '../../../nodes/contract/code.ts';
import { randomUUID } from 'node:crypto';
import type { CredentialSpec } from '../../../api/credential.ts';
import { StepError } from '../../../api/reasons.ts';
import { revisionOf } from '../../../api/revision.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { isTerminal } from '../../../api/phase.ts';
import { Secret } from '../../../nodes/contract/secret.ts';
import { localEgress } from '../nodes/stepContext.ts';
import type { CredentialSource } from '../../../runner/credentials.ts';
import { createMetrics } from '../../../runner/metrics.ts';
import { startRunner, type Runner, type RunnerOptions } from '../../../runner/runner.ts';
import type { Heartbeats } from '../../../runs/heartbeat.ts';
import type { RunStoreConnection } from '../../../store/connection.ts';
import { openProject } from '../../../runs/project.ts';
import { putCallee } from '../../../runs/callees.ts';
import { putRevision } from '../../../runs/revisions.ts';
import { setWorkflowLimits } from '../../../runs/limits.ts';
import { readRun } from '../../../runs/read.ts';
import { submit } from '../../../runs/submit.ts';
import type { WorkflowLimits } from '../../../runs/types/limits.ts';
import type { RunState } from '../../../runs/types/run.ts';
import type { Submission } from '../../../runs/types/submission.ts';
import { createCollectedLog } from '../logs/collectedLog.ts';
import { pollUntil } from '../time/poll.ts';

export type TestProject = {
  uid: string;
  /** Puts a workflow in place and gives the name of its revision. */
  deploy(nodes: object[], edges?: object[], spec?: object, limits?: Partial<WorkflowLimits>): Promise<string>;
  /** Replaces the revision that new child runs of a workflow execute. */
  deployAs(workflow: string, nodes: object[]): Promise<void>;
  /** Submits an event with that JSON as the body, and gives the run's name. */
  send(revision: string, body: unknown, extra?: Partial<Submission>): Promise<string>;
  /** The run as soon as that is true of it. */
  until(run: string, is: (state: RunState) => boolean, timeoutMs?: number): Promise<RunState>;
  /** The run when it has ended. */
  ended(run: string, timeoutMs?: number): Promise<RunState>;
};

export async function openTestProject(conn: RunStoreConnection): Promise<TestProject> {
  const uid = randomUUID();
  await conn.ready();
  await openProject(conn, uid);
  const until: TestProject['until'] = (run, is, timeoutMs = 40_000) =>
    pollUntil(
      `what is expected of run ${run}`,
      async () => {
        const state = await readRun(conn, uid, run);
        return state && !('outcome' in state) && is(state) ? state : undefined;
      },
      { timeoutMs, everyMs: 10 },
    );
  return {
    uid,
    until,
    ended: (run, timeoutMs) => until(run, ({ phase }) => isTerminal(phase), timeoutMs),
    deploy: async (nodes, edges, spec = {}, limits = {}) => {
      const workflow = { active: true, nodes, ...(edges && { edges }), ...spec } as WorkflowSpec;
      const revision = revisionOf(workflow);
      const name = `flow-${randomUUID().slice(0, 8)}`;
      await putRevision(conn, uid, name, revision);
      const deadlineMs = revision.timeoutMs;
      await putCallee(conn, uid, { name, workflowUid: name, revision: name });
      await setWorkflowLimits(conn, uid, { workflowUid: name, policy: 'Queue', deadlineMs, ...limits });
      return name;
    },
    deployAs: async (workflow, nodes) => {
      const revision = `${workflow}-2`;
      await putRevision(conn, uid, revision, revisionOf({ active: true, nodes } as WorkflowSpec));
      await putCallee(conn, uid, { name: workflow, workflowUid: workflow, revision });
    },
    send: async (revision, body, extra = {}) => {
      const submitted = await submit(conn, {
        project: uid,
        workflow: revision,
        workflowUid: revision,
        revision,
        trigger: 'webhook',
        input: JSON.stringify({ text_content: '', data_content: body }),
        bodyHash: '',
        test: false,
        ...extra,
      });
      if (submitted.outcome !== 'accepted') throw new Error(`not accepted: ${JSON.stringify(submitted)}`);
      return submitted.run;
    },
  };
}

/** Credentials by name; every secret is `test-secret` unless the table holds another by its key. */
export type CredentialTable = Record<string, { spec: CredentialSpec; secrets?: Record<string, string> }>;

function tableOfCredentials(table: CredentialTable): CredentialSource {
  const get: CredentialSource['get'] = async (name) => {
    const entry = table[name];
    if (!entry) throw new StepError('CredentialMissing', `there is no Credential ${name}`);
    const { spec, secrets = {} } = entry;
    return { name, spec, secret: ({ key }) => new Secret(secrets[key] ?? 'test-secret') };
  };
  return {
    get,
    fresh: get,
    hasChanged: async () => false,
  };
}

export type TestRunnerOptions = {
  runner?: string;
  concurrency?: number;
  attempts?: number;
  credentials?: CredentialTable;
  /** A runner without heartbeats polls, and counts as dead for other runners. */
  heartbeats?: Heartbeats;
  takeover?: RunnerOptions['takeover'];
  releaseOrphansEveryMs?: number;
  sandbox?: CodeSandbox;
  consoleUrl?: string;
  readRecord?: RunnerOptions['readRecord'];
  prices?: RunnerOptions['prices'];
};

/** A runner in this process. */
export function startTestRunner(
  conn: RunStoreConnection,
  project: string,
  options: TestRunnerOptions = {},
): Runner {
  const {
    runner = 'runner-1',
    concurrency = 50,
    attempts,
    credentials = {},
    heartbeats,
    takeover,
    releaseOrphansEveryMs,
    sandbox,
    consoleUrl,
    readRecord,
    prices,
  } = options;
  return startRunner({
    conn,
    project,
    namespace: 'shop',
    runner,
    concurrency,
    credentials: tableOfCredentials(credentials),
    egress: localEgress,
    ...(sandbox && { sandbox }),
    ...(attempts !== undefined && { attempts }),
    ...(readRecord && { readRecord }),
    ...(prices && { prices }),
    ...(takeover && { takeover }),
    consoleUrl,
    ...(releaseOrphansEveryMs !== undefined && { releaseOrphansEveryMs }),
    heartbeats,
    metrics: createMetrics({ defaults: false }),
    log: createCollectedLog(),
  });
}
