/** Converts the zod schemas of a kind into a CustomResourceDefinition with a structural schema. */
import * as z from 'zod';
import { GROUP, VERSION } from './group.ts';
import type { Kind } from './kinds.ts';

type Schema = Record<string, unknown>;

const FORBIDDEN = [
  'oneOf',
  'anyOf',
  'allOf',
  'not',
  '$ref',
  'definitions',
  '$defs',
  'const',
  'patternProperties',
  'propertyNames',
];
const SAFE_INTEGER = Number.MAX_SAFE_INTEGER;

/**
 * A structural schema from the result of `z.toJSONSchema`. Throws for keywords that a CRD does not support
 * (unions, references): use optional members and a CEL rule instead.
 */
export function structural(schema: Schema, path = 'spec'): Schema {
  if (schema['x-windlass-free'] || schema['x-kubernetes-preserve-unknown-fields']) return freeForm(schema);
  for (const word of FORBIDDEN) {
    if (word in schema && word !== 'propertyNames')
      throw new Error(`${path}: a CRD schema cannot have "${word}"`);
  }
  const { additionalProperties, propertyNames: _names, properties, items, ...rest } = schema;
  const out: Schema = withoutNoise(rest);
  if (items) out.items = structural(items as Schema, `${path}[]`);
  // The API server drops an empty map, so a comparison with it would always show a difference.
  if (properties && Object.keys(properties).length > 0) {
    out.properties = Object.fromEntries(
      Object.entries(properties as Record<string, Schema>).map(([name, child]) => [
        name,
        structural(child, `${path}.${name}`),
      ]),
    );
  } else if (additionalProperties && typeof additionalProperties === 'object') {
    out.additionalProperties = structural(additionalProperties as Schema, `${path}{}`);
  }
  return out;
}

function freeForm(schema: Schema): Schema {
  const { description, type, nullable } = schema;
  return {
    ...(description ? { description } : {}),
    ...(type ? { type } : {}),
    ...(nullable ? { nullable } : {}),
    'x-kubernetes-preserve-unknown-fields': true,
  };
}

/**
 * Drops keywords that zod adds and a CRD does not need: bounds of safe integers, long patterns of formats.
 */
function withoutNoise(schema: Schema): Schema {
  const out: Schema = {};
  for (const [key, value] of Object.entries(schema)) {
    if (value === undefined || key === '$schema' || key === 'id' || key.startsWith('x-windlass-')) continue;
    if ((key === 'minimum' || key === 'maximum') && Math.abs(value as number) === SAFE_INTEGER) continue;
    if (key === 'pattern' && schema.format === 'date-time') continue;
    if (key === 'required' && (value as string[]).length === 0) continue;
    out[key] = value;
  }
  return out;
}

const convert = (schema: z.ZodType): Schema =>
  structural(z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input', unrepresentable: 'any' }));

/** The root schema of a kind, which `kubectl explain` shows. */
export function rootSchema(kind: Kind): Schema {
  return {
    type: 'object',
    description: kind.description,
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string', description: 'The version of the schema: windlass.dev/v1alpha1.' },
      kind: { type: 'string', description: 'The kind of the object.' },
      metadata: { type: 'object' },
      spec: convert(kind.spec),
      ...(kind.status && { status: convert(kind.status) }),
    },
    ...kind.rootRules,
  };
}

/** The CustomResourceDefinition of a kind, ready to be written as YAML. */
export function crdOf(kind: Kind): Schema {
  const withStatusDefault = seedsStatus(kind);
  const schema = rootSchema(kind);
  if (withStatusDefault) ((schema.properties as Record<string, Schema>).status as Schema).default = {};
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${kind.plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular: kind.singular,
        ...(kind.shortNames.length > 0 ? { shortNames: kind.shortNames } : {}),
        categories: ['windlass'],
      },
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          ...(kind.status && { subresources: { status: {} } }),
          ...(kind.selectableFields
            ? { selectableFields: kind.selectableFields.map((jsonPath) => ({ jsonPath })) }
            : {}),
          // As the API server stores them: without a priority of 0, which is the default.
          additionalPrinterColumns: kind.columns.map(({ priority, ...column }) =>
            priority ? { ...column, priority } : column,
          ),
          schema: { openAPIV3Schema: schema },
        },
      ],
    },
  };
}

/** Whether the status has defaults, so that a new object does not seem current before the first reconcile. */
function seedsStatus(kind: Kind): boolean {
  if (kind.status === undefined) return false;
  const properties = convert(kind.status).properties as Record<string, Schema> | undefined;
  return Object.values(properties ?? {}).some((property) => 'default' in property);
}
