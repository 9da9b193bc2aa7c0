/**
 * Checks of single nodes that only the code that executes them can answer, and fields that this version does
 * not execute.
 */
import { parseSchedule } from '../../../api/schedule/times.ts';
import type { Check, Violation } from './check.ts';
import type { WorkflowNode } from '../../../api/workflow.ts';
import type { SkillStep } from '../../../api/step.ts';
import { findSkill, needsCredential, SKILL_NAMES, validateSkill } from '../../../nodes/register.ts';
import { optionsProblem } from '../../../nodes/agent/models.ts';
import { outputSchemaProblem } from '../../../nodes/agent/structured.ts';
import { responseProblems } from '../../../nodes/response.ts';

/** The expression and the time zone of a schedule are valid, and it has a next time. */
export const scheduleFits: Check = (spec) =>
  spec.nodes.flatMap(({ id, schedule }): Violation[] => {
    const problem = schedule && problemOf(schedule.cron, schedule.timeZone);
    if (problem === undefined) return [];
    return [{ reason: 'InvalidSchedule', message: `node ${id}: schedule: ${problem}`, trigger: true }];
  });

/** Far from every clock change, so that the result does not depend on the day. */
const SOME_DAY = Date.UTC(2027, 0, 15);

function problemOf(cron: string, timeZone = 'UTC'): string | undefined {
  try {
    const first = parseSchedule(cron, timeZone).next(SOME_DAY);
    return first === undefined
      ? 'no day has these fields, such as February 30: it would never fire'
      : undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Fields of the schema that are not executed yet, and how to avoid them. */
const UNSUPPORTED: {
  field: string;
  remedy: string;
  isUsed: (node: WorkflowNode) => boolean;
}[] = [
  {
    field: 'agent.tools',
    remedy: 'remove them, and use a skill node after the agent',
    isUsed: (node) => (node.agent?.tools ?? []).length > 0,
  },
];

/** No node uses a field that this version does not execute. */
export const fieldsAreSupported: Check = (spec) =>
  spec.nodes.flatMap((node) =>
    UNSUPPORTED.filter(({ isUsed }) => isUsed(node)).map(
      ({ field, remedy }): Violation => ({
        reason: 'FieldNotSupported',
        message: `node ${node.id}: this version does not execute ${field} yet: ${remedy}`,
      }),
    ),
  );

/**
 * Every skill node names a registered skill, with valid constant parameters and the credential that it needs.
 */
export const skillsFit: Check = (spec) =>
  spec.nodes.flatMap(({ id, skill }) => (skill ? checkSkill(`node ${id}: skill`, skill) : []));

function checkSkill(place: string, step: SkillStep): Violation[] {
  const skill = findSkill(step.name);
  if (!skill) {
    const message = `${place}: there is no skill named ${step.name}; use one of ${SKILL_NAMES.join(', ')}`;
    return [{ reason: 'UnknownSkill', message }];
  }
  const problems = validateSkill(step.name, step.parameters ?? {}).map((problem) => `parameters: ${problem}`);
  const kinds = skill.credentials.join(' or ');
  if (needsCredential(skill) && step.credential === undefined)
    problems.push(`credential is missing: ${step.name} needs the name of a Credential of kind ${kinds}`);
  if (kinds === '' && step.credential !== undefined)
    problems.push(`${step.name} takes no credential: remove it`);
  return problems.map((problem) => ({ reason: 'InvalidParameters', message: `${place}: ${problem}` }));
}

/**
 * Every `outputSchema` is a JSON Schema that responses can be validated against, and `options` names no
 * member that the step sets.
 */
export const agentsFit: Check = (spec) =>
  spec.nodes.flatMap(({ id, agent }): Violation[] =>
    [
      agent?.outputSchema && outputSchemaProblem(agent.outputSchema),
      agent?.options && optionsProblem(agent.options),
    ]
      .filter((problem) => problem !== undefined)
      .map((problem) => ({ reason: 'InvalidParameters', message: `node ${id}: agent: ${problem}` })),
  );

/** Every constant header of a response can be sent. */
export const responsesFit: Check = (spec) =>
  spec.nodes.flatMap(({ id, response }): Violation[] =>
    (response ? responseProblems(response) : []).map((problem) => ({
      reason: 'InvalidParameters',
      message: `node ${id}: response: ${problem}`,
    })),
  );
