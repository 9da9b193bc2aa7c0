/** The checks of a workflow's spec, in the order in which a person should mend what they find. Pure. */
import type { WorkflowSpec } from '../../api/workflow.ts';
import { outputSchemasFit } from './checks/agents.ts';
import { callersAreVerified, type AuthPolicy } from './checks/auth.ts';
import type { Check, Violation } from './checks/check.ts';
import { conditionsAreKnown, referencesAreKnown, valuesAreKnown } from './checks/expressions.ts';
import { responsesFit } from './checks/responses.ts';
import { scheduleFits } from './checks/schedules.ts';
import { skillsFit } from './checks/skills.ts';
import { failuresAreLast, stepsAreReached, triggersNeverFail } from './checks/reach.ts';
import { NO_VARIABLES, type Variables } from '../../api/expression/variables.ts';
import { variablesExist } from './checks/variables.ts';
import { fieldsAreSupported } from './checks/support.ts';
import { hostsAreAdmitted } from './checks/egress.ts';
import type { EgressRules } from '../../nodes/egress/rules.ts';

const CHECKS: readonly Check[] = [
  scheduleFits,
  fieldsAreSupported,
  stepsAreReached,
  triggersNeverFail,
  failuresAreLast,
  skillsFit,
  outputSchemasFit,
  responsesFit,
  referencesAreKnown,
  valuesAreKnown,
  conditionsAreKnown,
];

/** What the installation and the namespace demand. */
export type Policies = {
  /** Who requires that webhooks verify their callers. */
  auth?: AuthPolicy;
  /** Where steps may connect to. */
  egress?: EgressRules;
  /** The variables of the project. */
  variables?: Variables;
};

const INTERNET_ALONE: EgressRules = { allow: [], deny: [] };

/** Everything that is wrong with the spec; empty when it is valid. */
export function validate(
  spec: WorkflowSpec,
  { auth = 'None', egress = INTERNET_ALONE, variables = NO_VARIABLES }: Policies = {},
): Violation[] {
  return [
    ...callersAreVerified(spec, auth),
    ...CHECKS.flatMap((check) => check(spec)),
    ...variablesExist(spec, variables),
    ...hostsAreAdmitted(spec, egress),
  ];
}
