/**
 * The node types, options and skills as text for a model: names, types and the first sentence of each. Pure.
 */
import type { FieldSchema, Schemas, SkillSchema } from '../../forms/schemas.ts';

/** About 22,000 characters, which are 6,000 tokens. The whole schemas have four times as many. */
export function schemaText({ triggers, steps, stepOptions, nodeOptions, workflow, skills }: Schemas): string {
  return [
    'Trigger types (exactly one trigger per workflow; * marks required fields):',
    fieldsText(triggers),
    'Step types:',
    fieldsText(steps),
    'Options of steps, beside the type:',
    fieldsText({ ...stepOptions, ...nodeOptions }),
    'Fields of the workflow beside nodes and edges:',
    fieldsText(workflow.properties ?? {}),
    'Skills (skill.name, with skill.parameters):',
    ...skills.map(skillText),
  ].join('\n');
}

function fieldsText(
  fields: Record<string, FieldSchema>,
  required: readonly string[] = [],
  depth = 0,
): string {
  return Object.entries(fields)
    .map(([name, field]) => fieldText(`${name}${required.includes(name) ? '*' : ''}`, field, depth))
    .join('\n');
}

function fieldText(name: string, field: FieldSchema, depth: number): string {
  const { properties, required, items } = field;
  const head = `${'  '.repeat(depth)}${name}: ${typeText(field)}${firstSentence(field.description)}`;
  if (properties !== undefined) return `${head}\n${fieldsText(properties, required, depth + 1)}`;
  if (items?.properties === undefined) return head;
  return `${head}\n${fieldsText(items.properties, items.required, depth + 1)}`;
}

function typeText({ type, enum: values, items }: FieldSchema): string {
  if (values !== undefined) return values.join(' | ');
  if (items?.properties !== undefined) return 'list of objects';
  return Array.isArray(type) ? type.join(' or ') : (type ?? 'any');
}

function firstSentence(description: string | undefined): string {
  return description === undefined ? '' : `. ${description.split(/(?<=\.)\s/)[0]}`;
}

function skillText({
  name,
  description,
  credentials,
  credentialIsOptional,
  parameters,
}: SkillSchema): string {
  const needs = credentialIsOptional ? 'may have a credential' : 'needs a credential';
  const account = credentials.length === 0 ? '' : ` (${needs} of kind ${credentials.join(' or ')})`;
  return `${name}${account}. ${description}\n${fieldsText(parameters.properties ?? {}, parameters.required, 1)}`;
}
