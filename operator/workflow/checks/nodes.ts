/**
 * Checks of single nodes that only the code that executes them can answer.
 */
import { parseRfc3339 } from '../../../api/cel/times.ts';
import { ExpressionError } from '../../../api/expression/errors.ts';
import { parseTemplate } from '../../../api/expression/parse.ts';
import { parseSchedule } from '../../../api/schedule/times.ts';
import { createZone } from '../../../api/schedule/zone.ts';
import type { Check, Violation } from './check.ts';
import type { SkillStep } from '../../../api/step.ts';
import { findSkill, needsCredential, SKILL_NAMES, validateSkill } from '../../../nodes/register.ts';
import { toolProblems } from '../../../nodes/tools.ts';
import { optionsProblem } from '../../../nodes/agent/options.ts';
import { inputSchemaProblem } from '../../../nodes/agent/workflowTools.ts';
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
    return first === undefined ? 'it never fires (for example February 30)' : undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * Every tool of an agent names a skill that can be one, with valid fixed parameters and a name of its own.
 */
export const toolsFit: Check = (spec) =>
  spec.nodes.flatMap(({ id, agent }) =>
    (agent ? toolProblems(agent) : []).map(
      (problem): Violation => ({ reason: 'InvalidParameters', message: `node ${id}: agent.${problem}` }),
    ),
  );

/** The time zone of the workflow exists. */
export const timeZoneExists: Check = ({ timeZone }) => {
  if (timeZone === undefined) return [];
  try {
    createZone(timeZone);
    return [];
  } catch (error) {
    return [{ reason: 'InvalidParameters', message: `timeZone: ${(error as Error).message}` }];
  }
};

/** Every `inputSchema` of a trigger is the JSON Schema of an object. */
export const inputSchemasFit: Check = (spec) =>
  spec.nodes.flatMap(({ id, manual }): Violation[] => {
    const problem = manual?.inputSchema && inputSchemaProblem(manual.inputSchema);
    if (problem === undefined) return [];
    return [{ reason: 'InvalidParameters', message: `node ${id}: manual: ${problem}` }];
  });

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

/** Every `wait.until` without references is a time in RFC 3339. */
export const waitsFit: Check = (spec) =>
  spec.nodes.flatMap(({ id, wait }): Violation[] => {
    const text = wait?.until === undefined ? undefined : literalOf(wait.until);
    if (text === undefined || parseRfc3339(text.trim()) !== undefined) return [];
    const message = `node ${id}: wait.until: ${JSON.stringify(text.slice(0, 64))} is not a time in RFC 3339: write a date of the calendar and a time with its zone, such as 2026-05-01T08:00:00Z, or a reference`;
    return [{ reason: 'InvalidParameters', message }];
  });

/** A text without references; undefined for another one, and where it cannot be parsed. */
function literalOf(template: string): string | undefined {
  try {
    const { parts } = parseTemplate(template);
    return parts.every((part) => typeof part === 'string') ? parts.join('') : undefined;
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return undefined;
  }
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
