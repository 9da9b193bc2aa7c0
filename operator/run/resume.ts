/**
 * Prepares a WorkflowRun with `spec.resume`: finds the failed run in `retryOf`, and takes its revision, its
 * input and the nodes to keep from the run store, or from its record once the run store has removed it.
 */
import { joinExact } from '../../api/exact/exactNumber.ts';
import type { WebhookRoute, WorkflowRun } from '../../api/kinds.ts';
import { testingOf, type Testing } from '../../api/mock.ts';
import type { FailureReason } from '../../api/reasons.ts';
import type { Revision } from '../../api/revision.ts';
import type { NodeStatus } from '../../api/nodeStatus.ts';
import { isTerminal } from '../../api/phase.ts';
import { controllerOf } from '../../kube/resource.ts';
import { isAtMostOnce } from '../../nodes/register.ts';
import { planResume, readEnded } from '../../runs/resume.ts';
import type { NodeState } from '../../runs/types/node.ts';
import type { Decision, RunState } from '../../runs/types/run.ts';
import type { Resumed } from '../../runs/types/submission.ts';
import { isUnavailable } from '../../store/connection.ts';
import type { OperatorContext } from '../shared/context.ts';
import { unreachable } from '../shared/errors.ts';
import { workflowRuns } from '../shared/resources.ts';
import { givenInput } from './input.ts';
import { lostReference } from './lostData.ts';
import { recordedNode } from './restorePlan.ts';
import { inherit, inheritanceProblem } from './testRun.ts';

type Refusal = { reason: FailureReason; message: string };

/** The failed run, as the run store or its record has it. */
export type FailedOrigin = {
  run: string;
  revision: string;
  test: boolean;
  until?: string | undefined;
  testing?: Testing | undefined;
} & (
  | { from: 'store'; state: RunState; items: ReadonlyMap<string, NodeState> | undefined }
  | { from: 'record'; record: WorkflowRun }
);

/** Finds the failed run that the run resumes, or says why it cannot be resumed. */
export async function findOrigin(
  { conn, client }: Pick<OperatorContext, 'conn' | 'client'>,
  run: WorkflowRun,
  { projectUID, workflowUID }: WebhookRoute['spec'],
): Promise<FailedOrigin | Refusal> {
  const { workflow, retryOf: name = '', input, revision, test = false } = run.spec;
  const { namespace = '' } = run.metadata;
  const origin = await readOrigin({ conn, client }, { project: projectUID, namespace, name }, workflowUID);
  if (!origin) {
    const message = `Workflow ${workflow} has no run ${name} in this namespace that has ended: name a failed run in retryOf, or remove resume and give the input in spec.input.`;
    return { reason: 'RunMissing', message };
  }
  const refuse = (message: string): Refusal => ({ reason: 'NotResumable', message });
  if (input !== undefined)
    return refuse(
      'A run with resume has the input of the run in retryOf: remove spec.input, or remove resume.',
    );
  if (origin.test !== test)
    return refuse(`Run ${name} is ${origin.test ? 'a' : 'not a'} test run: set spec.test to ${origin.test}.`);
  if (revision !== undefined && revision !== origin.revision)
    return refuse(
      `Run ${name} executed revision ${origin.revision}, and only that one can be resumed: leave spec.revision out.`,
    );
  return origin;
}

async function readOrigin(
  { conn, client }: Pick<OperatorContext, 'conn' | 'client'>,
  { project, namespace, name }: { project: string; namespace: string; name: string },
  workflowUid: string,
): Promise<FailedOrigin | undefined> {
  const found = await readEnded(conn, project, name);
  if (isUnavailable(found)) throw unreachable(found);
  if (found?.state.workflowUid === workflowUid) {
    const { state, items } = found;
    const { revision, test, until, testing } = state;
    return { from: 'store', run: name, revision, test, until, testing, state, items };
  }
  const record = await client.find(workflowRuns, { namespace, name });
  if (!record || controllerOf(record)?.uid !== workflowUid || !isTerminal(record.status?.phase))
    return undefined;
  const { spec, status } = record;
  const revision = status?.revision ?? spec.revision ?? '';
  const { until, test = false } = spec;
  return { from: 'record', run: name, revision, test, until, testing: testingOf(spec), record };
}

/** The input of the run and what it keeps, or why it cannot be resumed. Nothing has had an effect. */
export async function resumeFrom(
  { client }: Pick<OperatorContext, 'client'>,
  run: WorkflowRun,
  origin: FailedOrigin,
  revision: Revision,
): Promise<({ input: string; resumed: Resumed } & Pick<FailedOrigin, 'until' | 'testing'>) | Refusal> {
  const decisions = (run.spec.decisions ?? []).map(decisionOf);
  const { run: name, until } = origin;
  const own = testingOf(run.spec);
  const problem = inheritanceProblem(own, origin.testing, name);
  if (problem !== undefined) return { reason: 'InvalidMocks', message: problem };
  const testing = inherit(own, origin.testing);
  if (origin.from === 'store') {
    const { state, items } = origin;
    const { phase, nodes } = state;
    const failed = { run: name, phase, origin: state.origin, nodes, items, isInDoubt: state.doubt };
    const resumed = planResume(failed, revision, decisions, isAtMostOnce);
    return 'reason' in resumed ? resumed : { input: state.input, until, testing, resumed };
  }
  const { record } = origin;
  const { phase = 'Pending', origin: first, nodes = [], inDoubt } = record.status ?? {};
  const failed = {
    run: name,
    phase,
    origin: first,
    nodes: nodes.map((node) => recordedNode(node, revision)),
    items: undefined,
    isInDoubt: inDoubt,
    isRecorded: true as const,
  };
  const resumed = planResume(failed, revision, decisions, isAtMostOnce);
  if ('reason' in resumed) return resumed;
  const given = await givenInput(client, record, revision);
  if ('reason' in given) return given;
  const kept = new Set(resumed.nodes.filter(({ phase }) => isEnded(phase)).map(({ id }) => id));
  const left = nodes.filter(({ id }) => kept.has(id) || id === revision.trigger.id);
  const decided = left.map((node) => withDecision(node, decisions));
  const lost = lostReference({ ...record, status: { ...record.status, nodes: decided } }, revision);
  if (lost === undefined) return { input: given.input, until, testing, resumed };
  const message = `The run store no longer has run ${name}, and its record does not have all of ${lost}, which a step still needs. Create a WorkflowRun with retryOf and without resume.`;
  return { reason: 'DataLost', message };
}

const isEnded = (phase: string) => phase === 'Succeeded' || phase === 'Failed';

/** A decided node has the output of the decision. */
function withDecision(node: NodeStatus, decisions: readonly Decision[]): NodeStatus {
  const { truncated: _truncated, ...rest } = node;
  return decisions.some(({ node: id }) => id === node.id) ? rest : node;
}

function decisionOf({
  node,
  outcome,
  output,
}: NonNullable<WorkflowRun['spec']['decisions']>[number]): Decision {
  if (!output) return { node, outcome };
  const { text_content = '', data_content = null, exact } = output;
  return { node, outcome, output: { text_content, data_content: joinExact(data_content, exact) } };
}
