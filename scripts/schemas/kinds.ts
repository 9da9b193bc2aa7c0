/**
 * JSON Schemas of the kinds, for editors and validators of manifests. They know less than `windlass lint`,
 * and refuse nothing that works: rules in CEL and the contents of expressions are not in them.
 */
import { rootSchema } from '../../api/crd.ts';
import { API_VERSION, GROUP, VERSION } from '../../api/group.ts';
import { WORKFLOW, type Kind } from '../../api/kinds.ts';
import type { Skill } from '../../nodes/contract/skill.ts';
import { DRAFT, when, type JsonSchema } from './schema.ts';
import { addSkills, skillDefinitions } from './skills.ts';

/** The name of the file of a kind, as kubeconform asks for it. */
export const schemaFile = ({ kind }: Pick<Kind, 'kind'>): string => `${kind.toLowerCase()}_${VERSION}.json`;

/** The schema of a kind; that of a workflow knows the parameters of each skill. */
export function kindSchema(kind: Kind, skills: readonly Skill[]): JsonSchema {
  const { apiVersion, kind: kindField, spec } = rootSchema(kind).properties as Record<string, JsonSchema>;
  const own = closed(spec ?? {});
  const isWorkflow = kind.kind === WORKFLOW.kind;
  if (isWorkflow) addSkills(own, skills);
  return {
    $schema: DRAFT,
    title: kind.kind,
    description: kind.description,
    type: 'object',
    required: ['apiVersion', 'kind', 'metadata', 'spec'],
    properties: {
      apiVersion: { ...apiVersion, const: API_VERSION },
      kind: { ...kindField, const: kind.kind },
      metadata: METADATA,
      spec: own,
      status: { type: ['object', 'null'], description: 'Written by Windlass: leave it out of manifests.' },
    },
    additionalProperties: false,
    ...(isWorkflow && { definitions: skillDefinitions(skills) }),
  };
}

/** The schema of files with objects of any kind: ours are checked by their kind, and others not. */
export function anySchema(kinds: readonly Kind[]): JsonSchema {
  const ours = { apiVersion: { type: 'string', pattern: `^${GROUP.replaceAll('.', '\\.')}/` } };
  const known = { apiVersion: { const: API_VERSION }, kind: { enum: kinds.map(({ kind }) => kind) } };
  return {
    $schema: DRAFT,
    title: 'Manifests of Windlass, beside others',
    allOf: [
      when(ours, { required: ['kind'], properties: known }),
      ...kinds.map((kind) => when({ ...ours, kind: { const: kind.kind } }, { $ref: schemaFile(kind) })),
    ],
  };
}

const texts = { type: ['object', 'null'], additionalProperties: { type: 'string' } };

const METADATA: JsonSchema = {
  type: 'object',
  description: 'Name, namespace, labels and annotations.',
  properties: {
    name: { type: 'string', description: 'Unique among the objects of its kind in the namespace.' },
    namespace: {
      type: ['string', 'null'],
      description: 'The project. Left out: the namespace of the command.',
    },
    labels: { ...texts, description: 'Texts by which objects are selected.' },
    annotations: { ...texts, description: 'Further texts.' },
  },
};

/** A structural schema as JSON Schema. It refuses fields that it does not know, as `kubectl apply` does. */
function closed(schema: JsonSchema): JsonSchema {
  const { properties, additionalProperties, items, nullable, type, ...rest } = schema;
  const out: JsonSchema = Object.fromEntries(Object.entries(rest).filter(([name]) => !name.startsWith('x-')));
  // Null stands for the default.
  const admitsNull = nullable === true || 'default' in schema;
  if (type !== undefined) out['type'] = admitsNull ? [type, 'null'] : type;
  if (admitsNull && Array.isArray(out['enum'])) out['enum'] = [...(out['enum'] as unknown[]), null];
  if (items) out['items'] = closed(items as JsonSchema);
  if (properties) {
    const fields = Object.entries(properties as Record<string, JsonSchema>);
    out['properties'] = Object.fromEntries(fields.map(([name, field]) => [name, closed(field)]));
    out['additionalProperties'] = schema['x-kubernetes-preserve-unknown-fields'] === true;
  }
  if (additionalProperties) out['additionalProperties'] = closed(additionalProperties as JsonSchema);
  return out;
}
