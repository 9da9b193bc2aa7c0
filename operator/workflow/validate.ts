/** The checks of a workflow's spec, in the order in which a person should mend what they find. Pure. */
import type { WorkflowSpec } from '../../api/workflow.ts';
import { outputSchemasFit } from './checks/agents.ts';
import { callersAreVerified, type AuthPolicy } from './checks/auth.ts';
import type { Check, Violation } from './checks/check.ts';
import { conditionsAreKnown, referencesAreKnown, valuesAreKnown } from './checks/expressions.ts';
import { responsesFit } from './checks/responses.ts';
import { scheduleFits } from './checks/schedules.ts';
import { skillsFit } from './checks/skills.ts';
import { stepsAreReached } from './checks/reach.ts';
import { fieldsAreSupported } from './checks/support.ts';

const CHECKS: readonly Check[] = [
  scheduleFits,
  fieldsAreSupported,
  stepsAreReached,
  skillsFit,
  outputSchemasFit,
  responsesFit,
  referencesAreKnown,
  valuesAreKnown,
  conditionsAreKnown,
];

/** Everything that is wrong with the spec; empty when it is valid. `auth`: who requires that webhooks verify their callers. */
export function validate(spec: WorkflowSpec, auth: AuthPolicy = 'None'): Violation[] {
  return [...callersAreVerified(spec, auth), ...CHECKS.flatMap((check) => check(spec))];
}
