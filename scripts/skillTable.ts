/** What the admission policy knows of skills, as maps and lists in CEL. */
import * as z from 'zod';
import type { Skill } from '../nodes/contract/skill.ts';
import { needsCredential } from '../nodes/register.ts';

type Names = Record<string, readonly string[]>;

/** The definitions of a template of the chart, by name. */
export function skillTables(skills: readonly Skill[]): Record<string, string> {
  const parameters = namesBy(skills, (skill) => schemaOf(skill).properties);
  const required = namesBy(skills, (skill) => schemaOf(skill).required);
  const needing = skills
    .filter(needsCredential)
    .map(({ name, credentials }) => [name, credentials.join(' or ')]);
  const without = skills.filter(({ credentials }) => credentials.length === 0).map(({ name }) => name);
  return {
    // Maps in CEL have no order.
    skillNames: literal(skills.map(({ name }) => name)),
    skillParameters: literal(parameters),
    requiredParameters: literal(required),
    credentialsOfSkills: literal(Object.fromEntries(needing)),
    skillsWithoutCredential: literal(without),
  };
}

function namesBy(skills: readonly Skill[], namesOf: (skill: Skill) => readonly string[]): Names {
  return Object.fromEntries(skills.map((skill) => [skill.name, namesOf(skill)]));
}

function schemaOf({ parameters }: Skill): { properties: string[]; required: string[] } {
  const { properties = {}, required = [] } = z.toJSONSchema(parameters, {
    io: 'input',
    unrepresentable: 'any',
  });
  return { properties: Object.keys(properties), required };
}

/** JSON is CEL, as long as no name holds a quote or a backslash. */
const literal = (value: unknown): string => JSON.stringify(value).replaceAll('"', "'");
