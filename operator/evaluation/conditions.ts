/** The condition Complete of an Evaluation. Pure. */
import type { Reason } from '../../api/conditions.ts';
import type { EvaluationStatus } from '../../api/evaluation.ts';
import type { Evaluation } from '../../api/kinds.ts';
import { findCondition } from '../../kube/conditions.ts';
import type { Finding } from '../shared/status.ts';

/** Why an Evaluation cannot start or, with `isFinal`, cannot be finished. */
export type Problem = { reason: Reason; message: string; isFinal?: true };

type Results = { total: number; passed: number; failed: number };

/** `found`: a problem, or the results so far. */
export function completeCondition(
  { metadata, status }: Evaluation,
  now: Date,
  found: Problem | Results,
): NonNullable<EvaluationStatus['conditions']> {
  const finding = 'reason' in found ? ofProblem(found) : ofResults(found);
  const before = findCondition(status?.conditions, 'Complete');
  const isSame = before?.status === finding.status;
  return [
    {
      type: 'Complete',
      ...finding,
      observedGeneration: metadata.generation ?? 0,
      lastTransitionTime: (isSame ? before?.lastTransitionTime : undefined) ?? now.toISOString(),
    },
  ];
}

function ofProblem({ reason, message, isFinal }: Problem): Finding {
  return { status: isFinal ? 'True' : 'False', reason, message };
}

function ofResults({ total, passed, failed }: Results): Finding {
  if (passed + failed < total)
    return {
      status: 'False',
      reason: 'Evaluating',
      message: `${passed + failed} of ${total} runs are judged.`,
    };
  if (failed === 0)
    return { status: 'True', reason: 'AllPassed', message: `All ${total} runs met their expectations.` };
  const message = `${failed} of ${total} runs did not meet their expectations: see status.failures.`;
  return { status: 'True', reason: 'SomeFailed', message };
}
