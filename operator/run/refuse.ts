/** Ends runs that cannot be submitted. */
import type { WorkflowRun } from '../../api/kinds.ts';
import type { FailureReason } from '../../api/reasons.ts';
import { done, type Action } from '../../kube/controller.ts';
import type { OperatorContext } from '../shared/context.ts';
import { recordSubmission } from './audit.ts';
import { endRun } from './end.ts';

/** Why a run cannot be submitted. */
export type Refusal = { reason: FailureReason; message: string };

/** Ends the run as Failed, and records that in the audit trail. */
export async function refuse(
  context: OperatorContext,
  run: WorkflowRun,
  { reason, message }: Refusal,
): Promise<Action> {
  await endRun(context, run, { phase: 'Failed', reason, message });
  recordSubmission(context, run, { result: reason === 'Suspended' ? 'denied' : 'failed', reason });
  return done();
}
