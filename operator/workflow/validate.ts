/** The checks of a workflow's spec, in the order in which a person should mend what they find. Pure. */
import type { WorkflowSpec } from '../../api/workflow.ts';
import { outputSchemasFit } from './checks/agents.ts';
import { callersAreVerified, type AuthPolicy } from './checks/auth.ts';
import type { Check, Violation } from './checks/check.ts';
import { conditionsAreKnown, referencesAreKnown, valuesAreKnown } from './checks/expressions.ts';
import { responsesFit } from './checks/responses.ts';
import { scheduleFits } from './checks/schedules.ts';
import { skillsFit } from './checks/skills.ts';
import { stepsAreReached, triggersNeverFail } from './checks/reach.ts';
import { fieldsAreSupported } from './checks/support.ts';
import { codeCompiles, codeIsEnabled, codeReferencesAreKnown } from './checks/code.ts';
import { hostsAreAdmitted } from './checks/egress.ts';
import type { EgressRules } from '../../nodes/egress/rules.ts';

const CHECKS: readonly Check[] = [
  scheduleFits,
  fieldsAreSupported,
  stepsAreReached,
  triggersNeverFail,
  skillsFit,
  outputSchemasFit,
  responsesFit,
  referencesAreKnown,
  valuesAreKnown,
  conditionsAreKnown,
  codeCompiles,
  codeReferencesAreKnown,
];

/** What the installation and the namespace demand. */
export type Policies = {
  /** Who requires that webhooks verify their callers. */
  auth?: AuthPolicy;
  /** Where steps may connect to. */
  egress?: EgressRules;
  /** Whether the installation executes code. */
  code?: boolean;
};

const INTERNET_ALONE: EgressRules = { allow: [], deny: [] };

/** Everything that is wrong with the spec; empty when it is valid. */
export function validate(
  spec: WorkflowSpec,
  { auth = 'None', egress = INTERNET_ALONE, code = true }: Policies = {},
): Violation[] {
  return [
    ...callersAreVerified(spec, auth),
    ...codeIsEnabled(spec, code),
    ...CHECKS.flatMap((check) => check(spec)),
    ...hostsAreAdmitted(spec, egress),
  ];
}
