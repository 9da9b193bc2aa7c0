/**
 * The tools of agents: skills and workflows that models call. What an agent may declare, and the tools of a
 * step.
 */
import { nameOfTool, type AgentStep, type AgentTool } from '../api/step.ts';
import { StepError } from '../api/reasons.ts';
import { openParameters, schemaOf, type SkillTool, type Tool } from './agent/tools.ts';
import { workflowTool } from './agent/workflowTools.ts';
import type { CalleeInfo, ChildCalls } from './contract/node.ts';
import type { Skill } from './contract/skill.ts';
import {
  effectOfTool,
  findSkill,
  needsCredential,
  parametersProblem,
  SKILL_NAMES,
  validateSkill,
} from './register.ts';

type Callees = ReadonlyMap<string, CalleeInfo>;

/** The workflows that the tools of an agent run, by name. */
export async function calleesOfTools(
  { tools = [] }: Pick<AgentStep, 'tools'>,
  children: Pick<ChildCalls, 'describe'> | undefined,
): Promise<Callees> {
  const names = new Set(tools.flatMap(({ workflow }) => (workflow === undefined ? [] : [workflow])));
  const found = [...names].map(async (name) => [name, (await children?.describe(name)) ?? {}] as const);
  return new Map(await Promise.all(found));
}

/** The tools of an agent. @throws StepError `InvalidParameters` for an unknown skill */
export function toolsOf({ tools = [] }: Pick<AgentStep, 'tools'>, callees: Callees = new Map()): Tool[] {
  return tools.map((tool) => {
    const { workflow } = tool;
    return workflow === undefined ? skillTool(tool) : workflowTool(tool, workflow, callees.get(workflow));
  });
}

function skillTool(tool: AgentTool): SkillTool {
  const skill = findSkill(tool.skill);
  if (!skill) throw new StepError('InvalidParameters', `there is no skill named ${tool.skill}`);
  const open = openParameters(tool, skill);
  return {
    name: nameOfTool(tool),
    description: tool.description ?? skill.description,
    inputSchema: schemaOf(skill, open, tool.parameterDescriptions),
    skill,
    credential: tool.credential,
    effect: effectOfTool(tool),
    open,
    modelMaySet: tool.modelMaySet ?? {},
    problemOf: (parameters) => parametersProblem(skill, parameters),
  };
}

/** What is wrong with the tools of an agent, as sentences that begin with the place of the tool. */
export function toolProblems({ tools = [] }: Pick<AgentStep, 'tools'>): string[] {
  const names = tools.map(nameOfTool);
  return tools.flatMap((tool, index) => {
    const place = `tools[${index}]`;
    const first = names.indexOf(nameOfTool(tool));
    const same =
      first === index ? [] : [`${place}: tools[${first}] has the same name ${nameOfTool(tool)}: set name`];
    return [...same, ...problemsOf(tool).map((problem) => `${place}: ${problem}`)];
  });
}

function problemsOf(tool: AgentTool): string[] {
  // Its input is checked when it is known: when the agent calls it.
  if (tool.workflow !== undefined) return [];
  const skill = findSkill(tool.skill);
  if (!skill) return [`there is no skill named ${tool.skill}; use one of ${toolSkills().join(', ')}`];
  if (skill.notAsTool !== undefined) {
    const why = `${tool.skill} cannot be a tool, because ${skill.notAsTool}`;
    return [`${why}; use one of ${toolSkills().join(', ')}`];
  }
  const { parameters = {}, modelMaySet = {} } = tool;
  const open = openParameters(tool, skill);
  const isOpen = (problem: string) => [...open].some((name) => problem.startsWith(`${name}: `));
  const problems = validateSkill(skill.name, parameters).filter((problem) => !isOpen(problem));
  return [
    ...credentialProblems(tool, skill),
    ...problems.map((problem) => `parameters: ${problem}${remedyFor(problem, skill)}`),
    ...descriptionProblems(tool, open),
    ...Object.entries(modelMaySet).flatMap(([name, pattern]) =>
      patternProblem(name, pattern, { skill, parameters }).map(
        (problem) => `modelMaySet: ${name}: ${problem}`,
      ),
    ),
  ];
}

const toolSkills = () => SKILL_NAMES.filter((name) => findSkill(name)?.notAsTool === undefined);

function descriptionProblems({ parameterDescriptions = {} }: AgentTool, open: ReadonlySet<string>): string[] {
  return Object.keys(parameterDescriptions)
    .filter((name) => !open.has(name))
    .map(
      (name) =>
        `parameterDescriptions: ${name}: the model sets no such parameter; it sets: ${[...open].join(', ') || '(none)'}`,
    );
}

function credentialProblems({ credential }: AgentTool, skill: Skill): string[] {
  const { name } = skill;
  const kinds = skill.credentials.join(' or ');
  if (needsCredential(skill) && credential === undefined)
    return [`credential is missing: ${name} needs the name of a Credential of kind ${kinds}`];
  return kinds === '' && credential !== undefined ? [`${name} takes no credential: remove it`] : [];
}

function remedyFor(problem: string, { rules = {} }: Skill): string {
  const name = Object.keys(rules).find((each) => problem === `${each}: is missing`);
  if (name === undefined || !rules[name]?.isDestination) return '';
  return '. It says where data goes: set it here, or let the model set it with a pattern in modelMaySet';
}

function patternProblem(
  name: string,
  pattern: string,
  { skill: { rules = {} }, parameters }: { skill: Skill; parameters: Record<string, unknown> },
): string[] {
  const destinations = Object.keys(rules).filter((each) => rules[each]?.isDestination);
  if (!destinations.includes(name))
    return [
      `is not a destination parameter; the destination parameters of this skill are: ${destinations.join(', ') || '(none)'}`,
    ];
  if (Object.hasOwn(parameters, name)) return ['has a fixed value in parameters: remove one of the two'];
  if (name !== 'url') return [];
  const origin = /^https?:\/\/[^/*?#@\\]+\//.exec(pattern)?.[0];
  if (origin !== undefined && URL.canParse(origin) && new URL(origin).href === origin) return [];
  return ['must begin with a scheme and a host in lower case without *, such as https://api.example.com/*'];
}
