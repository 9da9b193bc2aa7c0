/** Tries credentials when the operator asks for it, each with a deadline. */
import { checkCredential } from '../nodes/checks.ts';
import type { Egress } from '../nodes/egress/egress.ts';
import { StepError } from '../api/reasons.ts';
import type { CheckResult } from '../api/check.ts';
import { CHECKS, type TakenCheck } from '../store/requests/checks.ts';
import { answerQuestions, DEFECT, type AnswersDeps } from './answers.ts';
import type { CredentialSource } from './credentials.ts';

export type CheckerDeps = AnswersDeps & {
  credentials: Pick<CredentialSource, 'fresh'>;
  egress: Egress;
};

/** Creates it; `run` tries until the signal is aborted. */
export function createChecker(deps: CheckerDeps): { run(signal: AbortSignal): Promise<void> } {
  return {
    run: (signal) => answerQuestions(deps, CHECKS, (taken) => resultOf(deps, taken, signal), signal),
  };
}

async function resultOf(
  { credentials, egress, log }: CheckerDeps,
  { request: { name, spec } }: TakenCheck,
  signal: AbortSignal,
): Promise<CheckResult> {
  try {
    return await checkCredential(await credentials.fresh(name, spec), { egress, signal });
  } catch (error) {
    if (error instanceof StepError) return { works: false, reason: 'NotChecked', message: error.message };
    log.error({ credential: name, err: error }, 'check failed by a defect');
    return DEFECT;
  }
}
