/** The example with an Evaluation. */
import type { EvaluationStatus } from '../../api/evaluation.ts';
import { getJson } from '../support/cluster/kubectl.ts';
import { pollUntil } from '../support/time/poll.ts';
import type { Demo } from './runs.ts';

/** Waits for the end of the Evaluation, and shows both models side by side. */
export async function showEvaluation({ cluster, project, tell }: Demo): Promise<void> {
  const status = await pollUntil(
    'the end of the evaluation',
    async () => {
      const of = ['refund-agent', '-n', project];
      const found = await getJson<{ status?: EvaluationStatus }>(cluster, 'evaluations', ...of);
      return found.status?.completionTime !== undefined && found.status;
    },
    { timeoutMs: 60_000, everyMs: 500 },
  );
  tell(`${status.phase}: ${status.passed} of ${status.total} runs met their expectations`);
  for (const variant of (status.result ?? '').split(' | ')) tell(`  ${variant}`);
  for (const { case: name, variant, expectation, got } of status.failures ?? [])
    tell(`  ${variant}, ${name}: expected ${expectation}, got ${got}`);
}
