/** The reference of kinds and skills as Markdown pages, from the same schemas that check what users write. */
import * as z from 'zod';
import { rootSchema } from '../api/crd.ts';
import { API_VERSION } from '../api/group.ts';
import type { Kind } from '../api/kinds.ts';
import type { Skill } from '../nodes/contract/skill.ts';

type Schema = {
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: Schema;
  enum?: string[];
  anyOf?: Schema[];
  'x-kubernetes-validations'?: { message: string }[];
};

function typeOf(schema: Schema): string {
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(' \\| ');
  if (schema.type === 'array') return `list of ${schema.items ? typeOf(schema.items) : 'any'}`;
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeOf))].join(' or ');
  if (schema.additionalProperties) return `map of ${typeOf(schema.additionalProperties)}`;
  return [schema.type ?? 'any JSON'].flat().join(', ');
}

function rows(schema: Schema, path: string): string[] {
  const out: string[] = [];
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    const full = path ? `${path}.${name}` : name;
    const required = schema.required?.includes(name) ? ' **required**' : '';
    const description = (child.description ?? '').replaceAll('|', '\\|');
    out.push(`| \`${full}\` | ${typeOf(child)}${required} | ${description} |`);
    out.push(...rows(child, full));
    if (child.items) out.push(...rows(child.items, `${full}[]`));
  }
  return out;
}

function messages(schema: Schema): string[] {
  const own = (schema['x-kubernetes-validations'] ?? []).map((rule) => rule.message);
  const below = [...Object.values(schema.properties ?? {}), ...(schema.items ? [schema.items] : [])].flatMap(
    messages,
  );
  return [...new Set([...own, ...below])];
}

function skillSection({
  name,
  description,
  parameters,
  credentials,
  credentialIsOptional,
  effect,
}: Skill): string {
  const schema = z.toJSONSchema(parameters, { io: 'input', unrepresentable: 'any' }) as Schema;
  const kinds = credentials.map((kind) => `\`${kind}\``).join(' or ');
  const credential =
    kinds === '' ? 'none' : `of kind ${kinds}${credentialIsOptional ? ', if one is needed' : ''}`;
  const table = rows(schema, '').join('\n');
  return `\n## ${name}\n\n${description} Credential: ${credential}. Effect: ${effect}.\n\n| parameter | type | what |\n| --- | --- | --- |\n${table}\n`;
}

/** The page of skills: every parameter with its type and description. */
export function skillsPage(skills: readonly Skill[]): string {
  const head = '<!-- Generated from nodes/skills by `npm run generate`. Do not edit. -->\n# Skills\n';
  const how =
    'A step `skill: { name, credential, parameters }` does one of these. docs/skills.md says how they behave.';
  return `${head}\n${how}\n${skills.map(skillSection).join('')}`;
}

/** Its fields are those of another page, which its description names. */
const IN_OTHER_FORM = 'draft';

/** The schema of a kind without fields that another page has. */
function withoutForms(schema: Schema): Schema {
  const { spec } = schema.properties ?? {};
  const form = spec?.properties?.[IN_OTHER_FORM];
  if (!spec || !form) return schema;
  const { type = 'object', description = '' } = form;
  const properties = { ...spec.properties, [IN_OTHER_FORM]: { type, description } };
  return { ...schema, properties: { ...schema.properties, spec: { ...spec, properties } } };
}

/** The page: every field with its type and description, then the rules that `kubectl apply` checks. */
export function referencePage(kind: Kind): string {
  const schema = withoutForms(rootSchema(kind));
  const { spec, status } = schema.properties ?? {};
  const table = (title: string, part: Schema | undefined, path: string) =>
    part && rows(part, path).length > 0
      ? `\n## ${title}\n\n| field | type | what |\n| --- | --- | --- |\n${rows(part, path).join('\n')}\n`
      : '';
  const checks = messages(schema);
  const names = [kind.plural, ...kind.shortNames].map((name) => `\`${name}\``).join(', ');
  return [
    `<!-- Generated from api/ by \`npm run generate\`. Do not edit. -->\n# ${kind.kind}\n\n${kind.description}\n\n`,
    `\`apiVersion: ${API_VERSION}\`; kubectl: ${names}.\n`,
    table('Spec', spec, 'spec'),
    table('Status', status, 'status'),
    checks.length > 0
      ? `\n## What is checked on apply\n\n${checks.map((message) => `- ${message}`).join('\n')}\n`
      : '',
  ].join('');
}
