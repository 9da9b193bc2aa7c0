/**
 * Where a spec does not have the form of the schemas. The API server drops unknown fields without a word, and
 * a value of a wrong type could not be drawn. Pure.
 */
import { isRecord } from '../../../api/record.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import type { FieldSchema, Schemas } from '../../forms/schemas.ts';

/** Paths such as `nodes[1].skill.url`. */
export type SchemaProblems = {
  /** Fields that do not exist. */
  unknown: string[];
  /** Values of a wrong type, as sentences. No draft can have them. */
  wrong: string[];
};

const TEXT: FieldSchema = { type: 'string' };
const EDGE: FieldSchema = {
  type: 'object',
  properties: { from: TEXT, to: TEXT, when: TEXT, after: TEXT },
};

/** Both kinds of problems, in the order of the spec. */
export function schemaProblems(spec: WorkflowSpec, schemas: Schemas): SchemaProblems {
  const { triggers, steps, nodeOptions, stepOptions, workflow } = schemas;
  const node: FieldSchema = {
    type: 'object',
    properties: { ...triggers, ...steps, ...nodeOptions, ...stepOptions, id: TEXT, displayName: TEXT },
  };
  const properties = {
    ...workflow.properties,
    active: { type: 'boolean' },
    nodes: { type: 'array', items: node },
    edges: { type: 'array', items: EDGE },
  };
  const found: SchemaProblems = { unknown: [], wrong: [] };
  check(spec, { type: 'object', properties }, '', found);
  return found;
}

function check(value: unknown, schema: FieldSchema, path: string, found: SchemaProblems): void {
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (types.length > 0 && !types.some((type) => hasType(value, type)))
    return void found.wrong.push(`${path} must be of type ${types.join(' or ')}.`);
  if (Array.isArray(value))
    for (const [at, each] of value.entries()) check(each, schema.items ?? {}, `${path}[${at}]`, found);
  else if (isRecord(value)) checkMembers(value, schema, path, found);
}

function checkMembers(
  value: Record<string, unknown>,
  schema: FieldSchema,
  path: string,
  found: SchemaProblems,
): void {
  const { properties } = schema;
  if (properties === undefined || isOpen(schema)) return;
  for (const [name, member] of Object.entries(value)) {
    const place = path === '' ? name : `${path}.${name}`;
    const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (field === undefined) found.unknown.push(place);
    else check(member, field, place, found);
  }
}

function hasType(value: unknown, type: string): boolean {
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isRecord(value);
  if (type === 'integer') return Number.isInteger(value);
  return type === 'null' ? value === null : typeof value === type;
}

/** Whether the schema admits any member. */
function isOpen(schema: FieldSchema): boolean {
  return (
    schema['x-windlass-free'] === true ||
    schema['x-kubernetes-preserve-unknown-fields'] === true ||
    isRecord(schema.additionalProperties) ||
    schema.additionalProperties === true
  );
}
