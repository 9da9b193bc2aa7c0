/** Checks a workflow, or a draft of it, under the policies of its project. */
import type { Workflow } from '../../api/kinds.ts';
import { egressOf } from '../shared/config.ts';
import { projectVariables } from '../shared/caches.ts';
import type { OperatorContext } from '../shared/context.ts';
import { projectConfig } from '../pods/settings.ts';
import type { Violation } from './checks/check.ts';
import { compileSources } from './checks/code.ts';
import { authPolicyOf } from './checks/policies.ts';
import { validate, type Policies } from './validate.ts';

/** All violations of the workflow, which has the defaults of its project; empty if it is valid. */
export async function violationsOf(
  context: Pick<OperatorContext, 'caches' | 'config'>,
  { metadata: { name, namespace = '' }, spec }: Workflow,
  { isPart = false }: Pick<Policies, 'isPart'> = {},
): Promise<Violation[]> {
  const { caches, config } = context;
  const code = config.RUNNER_CODE_ENABLED;
  return validate(spec, {
    auth: authPolicyOf(config, caches.namespaces.get(undefined, namespace)?.metadata.labels),
    egress: egressOf(projectConfig(context, namespace)),
    variables: projectVariables(caches, namespace),
    code,
    compiled: code ? await compileSources(spec) : [],
    specOf: (other) => caches.workflows.get(namespace, other)?.spec,
    name,
    isPart,
  });
}
