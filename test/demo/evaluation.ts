/** The example with an Evaluation. */
import { join } from 'node:path';
import { kubectl } from '../support/cluster/kubectl.ts';
import { endedEvaluation } from '../support/installation/evaluations.ts';
import { exampleFolder } from '../support/installation/install.ts';
import type { Demo } from './runs.ts';

const NAME = 'refund-agent';

/** Evaluates again, and shows both models side by side. */
export async function showEvaluation({ cluster, project, tell }: Demo): Promise<void> {
  const here = ['-n', project];
  // It is executed once: the one that is there may be of an earlier start of the demo.
  await kubectl(cluster, ['delete', ...here, 'evaluations.windlass.dev', NAME]);
  await kubectl(cluster, ['apply', ...here, '-f', join(exampleFolder(NAME), 'evaluation.yaml')]);
  tell();
  tell('two cases are run with two models. Mocks take the place of the shop and of the mail.');
  tell('The second model is meant to fail one of them, so that the evaluation as a whole fails:');
  const { failures = [] } = await endedEvaluation(cluster, NAME, { project, timeoutMs: 60_000 });
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
