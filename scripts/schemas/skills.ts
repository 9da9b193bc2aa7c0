/** JSON Schemas of what skills take, as steps and as tools of agents. */
import * as z from 'zod';
import type { Skill } from '../../nodes/contract/skill.ts';
import { needsCredential } from '../../nodes/register.ts';
import { when, type JsonSchema } from './schema.ts';

type Fields = Record<string, JsonSchema>;

/** Adds to the spec of a workflow what each skill takes. The schemas of parameters are definitions. */
export function addSkills(spec: JsonSchema, skills: readonly Skill[]): void {
  const { skill = {}, agent = {} } = fieldsOf(itemsOf(fieldsOf(spec)['nodes']));
  addTo(skill, { member: 'name', skills, taken: takenByStep });
  const tools = skills.filter(({ notAsTool }) => notAsTool === undefined);
  addTo(itemsOf(fieldsOf(agent)['tools']), { member: 'skill', skills: tools, taken: takenByTool });
}

/** The parameters of each skill, whole and, for tools, with those left out that a model sets. */
export function skillDefinitions(skills: readonly Skill[]): Fields {
  return Object.fromEntries(
    skills.flatMap((skill) => {
      const { required, ...open } = parametersOf(skill);
      const description = skill.description;
      const whole = { description, ...open, ...(required !== undefined && { required }) };
      return [
        [skill.name, whole],
        [toolName(skill), { description, ...open }],
      ];
    }),
  );
}

const fieldsOf = (schema: JsonSchema | undefined) => (schema?.['properties'] ?? {}) as Fields;
const itemsOf = (schema: JsonSchema | undefined) => (schema?.['items'] ?? {}) as JsonSchema;
const toolName = ({ name }: Skill) => `${name}_tool`;
const definition = (name: string): JsonSchema => ({ $ref: `#/definitions/${name}` });

type Place = {
  /** The member that names the skill. */
  member: string;
  skills: readonly Skill[];
  taken: (skill: Skill) => JsonSchema;
};

function addTo(place: JsonSchema, { member, skills, taken }: Place): void {
  const fields = fieldsOf(place);
  fields[member] = { ...fields[member], enum: skills.map(({ name }) => name) };
  place['allOf'] = skills.map((skill) => when({ [member]: { const: skill.name } }, taken(skill)));
}

function takenByStep(skill: Skill): JsonSchema {
  const needsParameters = parametersOf(skill)['required'] !== undefined;
  return taken(skill, definition(skill.name), needsParameters ? ['parameters'] : []);
}

function takenByTool(skill: Skill): JsonSchema {
  return taken(skill, definition(toolName(skill)), []);
}

function taken(skill: Skill, parameters: JsonSchema, needed: readonly string[]): JsonSchema {
  const required = [...needed, ...(needsCredential(skill) ? ['credential'] : [])];
  return {
    properties: { parameters, ...(skill.credentials.length === 0 && { credential: false }) },
    ...(required.length > 0 && { required }),
  };
}

function parametersOf({ parameters }: Skill): JsonSchema {
  const { $schema: _, ...schema } = z.toJSONSchema(parameters, {
    io: 'input',
    unrepresentable: 'any',
    target: 'draft-7',
    override: ({ zodSchema, jsonSchema }) => {
      if (takesAnyType(zodSchema)) delete jsonSchema.type;
      if (isConverted(zodSchema)) proposeOnly(jsonSchema);
    },
  });
  const { properties, ...rest } = schema as JsonSchema;
  return { ...rest, properties: mapped(properties, orReference) };
}

function takesAnyType(schema: z.core.$ZodType): boolean {
  return innermost(schema)._zod.def.type === 'unknown' || isConverted(schema);
}

/** Whether values of other types are converted before they are checked: a number where text stands. */
function isConverted(schema: z.core.$ZodType): boolean {
  const { def } = innermost(schema)._zod;
  return def.type === 'pipe' && (def as z.core.$ZodPipeDef).in._zod.def.type === 'transform';
}

/** The schema without what makes it optional. */
function innermost(schema: z.core.$ZodType): z.core.$ZodType {
  const { def } = schema._zod;
  return 'innerType' in def ? innermost((def as z.core.$ZodOptionalDef).innerType) : schema;
}

/** A text such as `get` may be converted into one of the values. */
function proposeOnly(schema: z.core.JSONSchema.BaseSchema): void {
  const { enum: values } = schema;
  if (values === undefined) return;
  delete schema.enum;
  schema.anyOf = [{ enum: values }, { type: 'string' }];
}

const REFERENCE: JsonSchema = { type: 'string', pattern: '\\{\\{' };

/** A value that has the schema, or a text with references: what they will be is not known. */
function orReference({ description, default: value, ...schema }: JsonSchema): JsonSchema {
  const shown = {
    ...(description !== undefined && { description }),
    ...(value !== undefined && { default: value }),
  };
  const inside = withReferencesInside(schema);
  return Object.keys(inside).length === 0 ? shown : { ...shown, if: REFERENCE, else: inside };
}

function withReferencesInside({
  properties,
  additionalProperties,
  items,
  anyOf,
  ...schema
}: JsonSchema): JsonSchema {
  return {
    ...schema,
    ...(properties !== undefined && { properties: mapped(properties, orReference) }),
    ...(isSchema(additionalProperties)
      ? { additionalProperties: orReference(additionalProperties) }
      : additionalProperties !== undefined && { additionalProperties }),
    ...(isSchema(items) && { items: orReference(items) }),
    ...(Array.isArray(anyOf) && { anyOf: (anyOf as JsonSchema[]).map(withReferencesInside) }),
  };
}

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null;

function mapped(schemas: unknown, change: (schema: JsonSchema) => JsonSchema): Fields {
  const fields = Object.entries((schemas ?? {}) as Fields);
  return Object.fromEntries(fields.map(([name, schema]) => [name, change(schema)]));
}
