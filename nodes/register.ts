/** The register of skills: one line each. */
import * as z from 'zod';
// Through `z` it would bring the messages of all languages into a bundle.
import { toDotPath } from 'zod/v4/core';
import { ExpressionError } from '../api/expression/errors.ts';
import { compileValue } from '../api/expression/template.ts';
import { StepError } from '../api/reasons.ts';
import type { RevisionStep } from '../api/revision.ts';
import { nameOfTool, type AgentTool } from '../api/step.ts';
import type { Effect } from './contract/node.ts';
import { checkRules } from './skills/rules.ts';
import type { Skill, SkillDefinition, WrittenParameters } from './contract/skill.ts';
import { appendRow } from './skills/appendRow.ts';
import { downloadFile } from './skills/downloadFile.ts';
import { httpRequest } from './skills/httpRequest.ts';
import { readRows } from './skills/readRows.ts';
import { removeDuplicates } from './skills/removeDuplicates.ts';
import { replyEmail } from './skills/replyEmail.ts';
import { sendEmail } from './skills/sendEmail.ts';
import { sendMessage } from './skills/sendMessage.ts';
import { set } from './skills/set.ts';
import { updateRow } from './skills/updateRow.ts';
import { uploadFile } from './skills/uploadFile.ts';

/** All skills. */
export const SKILLS: readonly Skill[] = [
  checked(sendEmail),
  checked(replyEmail),
  checked(sendMessage),
  checked(httpRequest),
  checked(set),
  checked(removeDuplicates),
  checked(readRows),
  checked(appendRow),
  checked(updateRow),
  checked(uploadFile),
  checked(downloadFile),
];

const byName = new Map(SKILLS.map((skill) => [skill.name, skill]));

/** The names of all skills, for messages and forms. */
export const SKILL_NAMES: readonly string[] = [...byName.keys()];

/** The skill of that name, if there is one. */
export function findSkill(name: string | undefined): Skill | undefined {
  return name === undefined ? undefined : byName.get(name);
}

/** Whether a step with that skill must name a credential. */
export function needsCredential({ credentials, credentialIsOptional }: Skill): boolean {
  return credentials.length > 0 && !credentialIsOptional;
}

/** Whether the step only computes: it is executed without a mark, and again after a crash. */
export function hasNoEffect(step: RevisionStep): boolean {
  if (step.kind === 'skill') return findSkill(step.skill.name)?.effect === 'None';
  return step.kind === 'response' || step.kind === 'fail' || step.kind === 'code';
}

/**
 * What happens to the step's effect after a crash: what the step says, or what its kind does. `None`: there
 * is no effect.
 */
export function effectOf(step: RevisionStep): Effect | 'None' {
  if (hasNoEffect(step)) return 'None';
  if (step.effect) return step.effect;
  return step.kind === 'skill' ? (findSkill(step.skill.name)?.effect ?? 'AtLeastOnce') : 'AtLeastOnce';
}

/** How a crash during a call of a tool is handled. A repeated call of a workflow finds the same child run. */
export function effectOfTool({ skill, effect }: Pick<AgentTool, 'skill' | 'effect'>): Effect {
  const own = findSkill(skill)?.effect;
  return effect ?? (own === 'AtMostOnce' ? own : 'AtLeastOnce');
}

/** Whether the step, or a tool that it may call, runs other workflows. */
export function runsWorkflows(step: RevisionStep): boolean {
  if (step.kind === 'workflow') return true;
  return step.kind === 'agent' && (step.agent.tools ?? []).some(({ workflow }) => workflow !== undefined);
}

/** Whether the step, or a tool that it may call, has an effect that must not be repeated. */
export function hasEffectOnce(step: RevisionStep): boolean {
  if (effectOf(step) === 'AtMostOnce') return true;
  return (
    step.kind === 'agent' && (step.agent.tools ?? []).some((tool) => effectOfTool(tool) === 'AtMostOnce')
  );
}

/** Whether the effect of the step, or that of its tool with this name, must not be repeated. */
export function isAtMostOnce(step: RevisionStep, tool?: string): boolean {
  if (tool === undefined) return hasEffectOnce(step);
  const tools = step.kind === 'agent' ? (step.agent.tools ?? []) : [];
  return tools.some((one) => nameOfTool(one) === tool && effectOfTool(one) === 'AtMostOnce');
}

/** What is wrong with evaluated parameters; undefined when the skill takes them. */
export function parametersProblem(skill: Skill, parameters: unknown): string | undefined {
  const result = skill.parameters.safeParse(parameters);
  return result.success ? undefined : describe(result.error, parameters, parametersOf(skill));
}

/**
 * What is wrong with the parameters of a skill, as sentences that begin with the parameter's name; empty when
 * nothing is. Values that hold references are not checked: what they will be is not known before they are
 * evaluated.
 */
export function validateSkill(name: string, parameters: Record<string, unknown>): string[] {
  const skill = byName.get(name);
  if (!skill) return [`there is no skill named ${name}: use one of ${SKILL_NAMES.join(', ')}`];
  const { parameters: known, problems } = checkedByRules(skill, parameters);
  const result = skill.parameters.safeParse(known);
  const issues = result.success ? [] : result.error.issues;
  // A parameter that its rule refuses is reported once.
  const rest = issues.filter(
    ({ path }) => !problems.some((problem) => problem.startsWith(`${String(path[0])}: `)),
  );
  return [
    ...problems,
    ...rest
      .filter((issue) => issue.code === 'unrecognized_keys' || !holdsReference(valueAt(parameters, issue)))
      .map((issue) => sentence(issue, parameters, parametersOf(skill))),
  ];
}

function checkedByRules({ rules }: Skill, written: WrittenParameters): ReturnType<typeof checkRules> {
  try {
    return checkRules(rules, written);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    // A reference that cannot be read is reported where references are checked.
    return { parameters: written, problems: [] };
  }
}

/** Parses the evaluated parameters before the skill sees them. */
function checked<Parameters>(definition: SkillDefinition<Parameters>): Skill {
  return {
    ...definition,
    execute: async (parameters, context, credential) => {
      const result = definition.parameters.safeParse(parameters);
      if (!result.success) {
        throw new StepError(
          'InvalidParameters',
          describe(result.error, parameters, parametersOf(definition)),
        );
      }
      return definition.execute(result.data, context, credential);
    },
  };
}

/** The names of all its parameters. */
function parametersOf({ parameters }: { parameters: z.ZodType }): string[] {
  return parameters instanceof z.ZodObject ? Object.keys(parameters.shape) : [];
}

function describe(error: z.ZodError, parameters: unknown, known: readonly string[]): string {
  return error.issues.map((issue) => sentence(issue, parameters, known)).join('; ');
}

/** The value that an issue is about, or the text that it was made from. */
function valueAt(parameters: unknown, issue: z.core.$ZodIssue): unknown {
  return issue.path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : value),
    parameters,
  );
}

/** The path as far as it is written: a text may stand for a list of one. */
function writtenPath(path: readonly PropertyKey[], parameters: unknown): PropertyKey[] {
  let value = parameters;
  const end = path.findIndex((key) => {
    if (typeof value !== 'object' || value === null) return true;
    value = Reflect.get(value, key);
    return false;
  });
  return end === -1 ? [...path] : path.slice(0, end);
}

function holdsReference(value: unknown): boolean {
  try {
    return compileValue(value).kind !== 'literal';
  } catch {
    // A reference that cannot be read is reported where references are checked.
    return true;
  }
}

function sentence(issue: z.core.$ZodIssue, parameters: unknown, known: readonly string[]): string {
  if (issue.code === 'unrecognized_keys') {
    const there = issue.path.length === 0 && known.length > 0 ? `; there are ${known.join(', ')}` : '';
    return `there is no parameter named ${issue.keys.join(', ')}${there}`;
  }
  const path = toDotPath(writtenPath(issue.path, parameters));
  const isMissing = issue.code === 'invalid_type' && valueAt(parameters, issue) === undefined;
  return `${path || 'parameters'}: ${isMissing ? 'is missing' : issue.message}`;
}
