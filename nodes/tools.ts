/** The tools of agents: skills that models call. What a workflow may declare, and the tools of a step. */
import type { AgentStep, AgentTool } from '../api/step.ts';
import { StepError } from '../api/reasons.ts';
import { openParameters, schemaOf, type Tool } from './agent/tools.ts';
import type { Skill } from './contract/skill.ts';
import {
  effectOfTool,
  findSkill,
  needsCredential,
  parametersProblem,
  SKILL_NAMES,
  validateSkill,
} from './register.ts';

/** The tools of an agent. @throws StepError `InvalidParameters` for an unknown skill */
export function toolsOf({ tools = [] }: Pick<AgentStep, 'tools'>): Tool[] {
  return tools.map((tool) => {
    const skill = findSkill(tool.skill);
    if (!skill) throw new StepError('InvalidParameters', `there is no skill named ${tool.skill}`);
    const open = openParameters(tool, skill);
    return {
      name: nameOf(tool),
      description: tool.description ?? skill.description,
      inputSchema: schemaOf(skill, open),
      skill,
      credential: tool.credential,
      effect: effectOfTool(tool),
      open,
      modelMaySet: tool.modelMaySet ?? {},
      problemOf: (parameters) => parametersProblem(skill, parameters),
    };
  });
}

const nameOf = ({ name, skill }: AgentTool): string => name ?? skill;

/** What is wrong with the tools of an agent, as sentences that begin with the place of the tool. */
export function toolProblems({ tools = [] }: Pick<AgentStep, 'tools'>): string[] {
  const names = tools.map(nameOf);
  return tools.flatMap((tool, index) => {
    const place = `tools[${index}]`;
    const first = names.indexOf(nameOf(tool));
    const same =
      first === index ? [] : [`${place}: tools[${first}] has the same name ${nameOf(tool)}: set name`];
    return [...same, ...problemsOf(tool).map((problem) => `${place}: ${problem}`)];
  });
}

function problemsOf(tool: AgentTool): string[] {
  const skill = findSkill(tool.skill);
  if (!skill) return [`there is no skill named ${tool.skill}; use one of ${toolSkills().join(', ')}`];
  if (skill.notAsTool !== undefined) {
    const why = `${tool.skill} cannot be a tool, because ${skill.notAsTool}`;
    return [`${why}; use one of ${toolSkills().join(', ')}`];
  }
  const { parameters = {}, modelMaySet = {} } = tool;
  const open = openParameters(tool, skill);
  const isOpen = (problem: string) => [...open].some((name) => problem.startsWith(`${name}: `));
  const problems = validateSkill(tool.skill, parameters).filter((problem) => !isOpen(problem));
  return [
    ...credentialProblems(tool, skill),
    ...problems.map((problem) => `parameters: ${problem}${remedyFor(problem, skill)}`),
    ...Object.entries(modelMaySet).flatMap(([name, pattern]) =>
      patternProblem(name, pattern, { skill, parameters }).map(
        (problem) => `modelMaySet: ${name}: ${problem}`,
      ),
    ),
  ];
}

const toolSkills = () => SKILL_NAMES.filter((name) => findSkill(name)?.notAsTool === undefined);

function credentialProblems({ skill: name, credential }: AgentTool, skill: Skill): string[] {
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
