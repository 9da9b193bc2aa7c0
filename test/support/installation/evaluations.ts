/** Evaluations on a cluster. */
import type { EvaluationStatus } from '../../../api/evaluation.ts';
import { getJson, type ClusterAccess } from '../cluster/kubectl.ts';
import { pollUntil } from '../time/poll.ts';

/** The status of an Evaluation, once it has ended. */
export function endedEvaluation(
  cluster: ClusterAccess,
  name: string,
  { project, timeoutMs }: { project: string; timeoutMs: number },
): Promise<EvaluationStatus> {
  return pollUntil(
    `the end of the evaluation ${name}`,
    async () => {
      const object = ['evaluations.windlass.dev', name, '-n', project];
      const { status } = await getJson<{ status?: EvaluationStatus }>(cluster, ...object);
      return status?.completionTime !== undefined && status;
    },
    { timeoutMs, everyMs: 500 },
  );
}
