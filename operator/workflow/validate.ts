/** The checks of a workflow's spec, in the order in which problems should be corrected. Pure. */
import { codeReferencesAreKnown, codeIsEnabled } from './checks/code.ts';
import { chatsAreAnswered } from '../chat/check.ts';
import { startedAgentsHaveBudgets, type SpecOf } from '../chat/startedWorkflows.ts';
import { withoutDisabled } from '../../api/disabled.ts';
import { calleesOf, type WorkflowSpec } from '../../api/workflow.ts';
import type { Check, Violation } from './checks/check.ts';
import { conditionsAreKnown, referencesAreKnown, valuesAreKnown } from './checks/expressions.ts';
import { failuresAreLast, stepsAreReached, triggersNeverFail } from './checks/reach.ts';
import { NO_VARIABLES, type Variables } from '../../api/expression/variables.ts';
import { budgetsFit } from './checks/budgets.ts';
import { calleesExist } from './checks/callees.ts';
import { loopsFit } from './checks/loops.ts';
import { variablesExist } from './checks/variables.ts';
import type { EgressRules } from '../../nodes/egress/rules.ts';
import {
  inputSchemasFit,
  scheduleFits,
  timeZoneExists,
  toolsFit,
  skillsFit,
  agentsFit,
  responsesFit,
  waitsFit,
} from './checks/nodes.ts';
import { callersAreVerified, type AuthPolicy, hostsAreAdmitted } from './checks/policies.ts';

const CHECKS: readonly Check[] = [
  scheduleFits,
  timeZoneExists,
  inputSchemasFit,
  chatsAreAnswered,
  toolsFit,
  stepsAreReached,
  triggersNeverFail,
  failuresAreLast,
  skillsFit,
  agentsFit,
  budgetsFit,
  responsesFit,
  waitsFit,
  referencesAreKnown,
  valuesAreKnown,
  conditionsAreKnown,
  codeReferencesAreKnown,
  loopsFit,
];

/** The requirements of the installation and the namespace. */
export type Policies = {
  /** The source of the requirement that webhooks verify their callers. */
  auth?: AuthPolicy;
  /** Where steps may connect to. */
  egress?: EgressRules;
  /** The variables of the project. */
  variables?: Variables;
  /** The workflows of the namespace. */
  specOf?: SpecOf;
  /** The name of the workflow. */
  name?: string;
  /** Whether the installation executes code. */
  code?: boolean;
  /** The violations of sources of code (`compileSources`). */
  compiled?: readonly Violation[];
  /** Whether it is the part that a test run executes up to one node, before any node that answers a chat. */
  isPart?: boolean;
};

const INTERNET_ALONE: EgressRules = { allow: [], deny: [] };

/**
 * All violations of the spec; empty if it is valid. The fields of disabled steps are not checked, since they
 * may be unfinished.
 */
export function validate(
  given: WorkflowSpec,
  {
    auth = 'None',
    egress = INTERNET_ALONE,
    variables = NO_VARIABLES,
    code = true,
    compiled = [],
    specOf,
    name = '',
    isPart = false,
  }: Policies = {},
): Violation[] {
  const spec = withoutDisabled(given);
  return [
    ...callersAreVerified(spec, auth),
    ...codeIsEnabled(spec, code),
    ...CHECKS.filter((check) => !isPart || check !== chatsAreAnswered).flatMap((check) => check(spec)),
    ...compiled,
    ...variablesExist(spec, variables),
    ...(specOf ? startedWorkflowsFit(spec, name, executed(specOf)) : []),
    ...hostsAreAdmitted(spec, egress),
  ];
}

/** The workflows without their disabled steps, which start nothing. */
function executed(specOf: SpecOf): SpecOf {
  return (name) => {
    const spec = specOf(name);
    return spec && withoutDisabled(spec);
  };
}

function startedWorkflowsFit(spec: WorkflowSpec, name: string, specOf: SpecOf): Violation[] {
  const callees = (of: string) => {
    const callee = specOf(of);
    return callee && calleesOf(callee);
  };
  return [...calleesExist(spec, name, callees), ...startedAgentsHaveBudgets(spec, name, specOf)];
}
