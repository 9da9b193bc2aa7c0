/** Starts the child runs of workflow nodes and of agents' tools. */
import type { NodeOutput } from '../api/expression/scope.ts';
import { StepError } from '../api/reasons.ts';
import type { WorkflowStep } from '../api/step.ts';
import { getCallee } from '../runs/callees.ts';
import { isDeleted } from '../runs/deletion.ts';
import { isAfterFailure } from '../runs/failures.ts';
import { childName } from '../runs/names.ts';
import { submitChild } from '../runs/submit.ts';
import type { ClaimRef } from '../runs/types/claim.ts';
import type { RunState } from '../runs/types/run.ts';
import { isUnavailable } from '../store/connection.ts';
import { missing, refusal, refusePath } from './callRefusals.ts';
import { type CallDeps, hasOnlyRecord, readEndedChild } from './earlierChildren.ts';
import { retryUntilStored } from './retryUntilStored.ts';

/** Room for what surrounds the input of a child (`runs/advance.ts`: 512 KiB). */
const INPUT_LIMIT_BYTES = 512 * 1024;

/**
 * `ref`: the current claim of the parent. `regain`: takes the parent back from a run store that has lost the
 * claim, and returns whether it is executed here.
 */
type Parent = { parent: RunState; ref: () => ClaimRef; regain: () => Promise<boolean> };

/**
 * `fields`: the evaluated fields of the node. `effectKey`: also of the same attempt of the failed run that
 * the parent resumes.
 */
export type Call = Parent & {
  node: string;
  step: WorkflowStep;
  fields: Record<string, unknown>;
  /** The index of the item that the node is executed for. */
  item: number | undefined;
  effectKey: string;
  /** The node may have started the child before. */
  isInDoubt: boolean;
};

/**
 * `output`: the node does not wait for the child. `isKnown`: the child was started before, so that it may
 * have ended.
 */
export type Called = { child: string; isKnown: boolean } | { output: NodeOutput };

/**
 * Starts the child run of an attempt, or finds the one that the attempt started before.
 * @throws StepError if the child is refused
 */
export async function callWorkflow(deps: CallDeps, call: Call): Promise<Called> {
  const { conn, abandon } = deps;
  const { parent, step, fields, effectKey } = call;
  const { name, wait = true } = step;
  refusePath(pathOf(parent), name);
  const input = JSON.stringify({ text_content: '', data_content: fields['input'] ?? {} });
  if (Buffer.byteLength(input) > INPUT_LIMIT_BYTES)
    throw new StepError('OutputTooLarge', 'workflow.input is larger than 512 KiB: pass less data');
  const callee = await retryUntilStored(() => getCallee(conn, parent.project, name).then(found), abandon);
  if (!callee) throw new StepError('Cancelled', 'the runner was stopped');
  if (!callee.value) throw missing(name);
  let { isInDoubt } = call;
  for (let passed = 0; ; passed += 1) {
    const run = childName(name, passed === 0 ? effectKey : `${effectKey}/${passed}`);
    const submission = { callee: callee.value, run, input, isInDoubt };
    const isKnown = (await hasOnlyRecord(deps, parent, run)) || (await submitCall(deps, call, submission));
    if (!wait) return { output: { text_content: run, data_content: { run } } };
    if (!isKnown || parent.origin === undefined) return { child: run, isKnown };
    const found = await readEndedChild(deps, parent, run);
    if (found.isOwn || found.result.output) return { child: run, isKnown };
    if (found.result.reason === 'DataLost') isInDoubt = true;
  }
}

type Submission = {
  callee: { workflowUid: string; revision: string };
  run: string;
  input: string;
  isInDoubt: boolean;
};

/** Submits the child run. Returns whether it was known before. @throws StepError if it is refused */
async function submitCall(deps: CallDeps, call: Call, submission: Submission): Promise<boolean> {
  const first = await submitOnce(deps, call, submission);
  const isFenced = first?.outcome === 'fenced';
  const submitted = isFenced && (await call.regain()) ? await submitOnce(deps, call, submission) : first;
  if (!submitted) throw new StepError('Cancelled', 'the runner was stopped');
  if (submitted.outcome !== 'accepted') throw refusal(call.step.name, submission.run, submitted);
  return submitted.duplicate;
}

/** Undefined: the process ends. */
function submitOnce(
  { conn, abandon }: CallDeps,
  { parent, ref, node, item, step: { name, wait = true } }: Call,
  { callee, run, input, isInDoubt }: Submission,
) {
  const { project, test, testing, group, run: own } = parent;
  const root = parent.parent?.root ?? own;
  return retryUntilStored(async () => {
    const answer = await submitChild(
      conn,
      {
        project,
        workflow: name,
        ...callee,
        run,
        trigger: 'workflow',
        input,
        bodyHash: '',
        test,
        ...(testing && { testing }),
        parent: {
          run: own,
          node,
          group,
          root,
          path: pathOf(parent),
          waits: wait,
          ...(item !== undefined && { item }),
          ...(isAfterFailure(parent) && { isAfterFailure: true }),
        },
      },
      { token: ref().token, isInDoubt },
    );
    // A full store fails the attempt: waiting here could block runs whose end makes room.
    if (isUnavailable(answer) && answer.why === 'full') return { outcome: 'full' } as const;
    if (answer.outcome !== 'suspended') return answer;
    const deleted = await isDeleted(conn, project, callee.workflowUid);
    if (isUnavailable(deleted)) return deleted;
    return deleted ? ({ outcome: 'deleted' } as const) : answer;
  }, abandon);
}

const found = <T>(value: T) =>
  isUnavailable(value)
    ? value
    : ({ outcome: 'done', value: value as Exclude<T, { outcome: 'unavailable' }> } as const);

/** The workflows of the run and its ancestors, that of the root first. */
function pathOf({ parent, workflow }: RunState): string[] {
  return [...(parent?.path ?? []), workflow];
}
