/** The example with an Evaluation. */
import { join } from 'node:path';
import type { EvaluationStatus } from '../../api/evaluation.ts';
import { getJson, kubectl } from '../support/cluster/kubectl.ts';
import { exampleFolder } from '../support/installation/install.ts';
import { pollUntil } from '../support/time/poll.ts';
import type { Demo } from './runs.ts';

const NAME = 'refund-agent';

/** Evaluates again, and shows both models side by side. */
export async function showEvaluation({ cluster, project, tell }: Demo): Promise<void> {
  const here = ['-n', project];
  // It is executed once: the one that is there may be of an earlier start of the demo.
  await kubectl(cluster, ['delete', ...here, 'evaluations.windlass.dev', NAME]);
  await kubectl(cluster, ['apply', ...here, '-f', join(exampleFolder(NAME), 'evaluation.yaml')]);
  tell();
  tell('two cases are run with two models. Mocks take the place of the shop and of the mail:');
  const { failures = [] } = await pollUntil(
    'the end of the evaluation',
    async () => {
      const found = await getJson<{ status?: EvaluationStatus }>(cluster, 'evaluations', NAME, ...here);
      return found.status?.completionTime !== undefined && found.status;
    },
    { timeoutMs: 60_000, everyMs: 500 },
  );
  tell();
  tell('$ kubectl get evaluations');
  tell((await kubectl(cluster, ['get', ...here, 'evaluations', NAME])).trimEnd());
  for (const { case: name, variant, run, expectation, got } of failures) {
    tell();
    tell(`case ${name}, variant ${variant}:`);
    tell(`  expected  ${expectation}`);
    tell(`  got       ${got}`);
    tell(`  run       ${run}: its transcript is in kubectl get workflowrun ${run} -o yaml`);
  }
}
