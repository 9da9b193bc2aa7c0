/** Check that a URL that is written out does not lead to where no step may connect. Names are resolved when the step is executed. */
import { constantOrigin } from '../../../api/hosts.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { literalProblem } from '../../../nodes/egress/egress.ts';
import type { EgressRules } from '../../../nodes/egress/rules.ts';
import type { Violation } from './check.ts';

/** No skill is given the URL of an address that egress forbids. */
export function hostsAreAdmitted({ nodes }: WorkflowSpec, rules: EgressRules): Violation[] {
  return nodes.flatMap(({ id, skill }): Violation[] => {
    const origin = constantOrigin(skill?.parameters?.['url']);
    const problem = origin && literalProblem(origin, rules);
    return problem === undefined
      ? []
      : [{ reason: 'AddressForbidden', message: `node ${id}: skill: parameters: url: ${problem}` }];
  });
}
