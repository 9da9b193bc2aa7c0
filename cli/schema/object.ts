/** What the API server would say about an object that is created: version, kind, metadata, schema, rules. */
import { isRecord } from '../../api/record.ts';
import { API_VERSION, GROUP } from '../../api/group.ts';
import { ruleProblems } from './rules.ts';
import { KIND_NAMES } from './makeSchema.ts';
import { schemaOf } from './schemas.ts';
import { structuralProblems, withSchemaDefaults } from './structural.ts';
import type { Problem } from './types.ts';

export type CheckedObject = {
  problems: Problem[];
  /** The object as the API server stores it; undefined if it is invalid. */
  stored?: Record<string, unknown>;
};

/** Whether an object is of our group, in any version, or of one of our kinds without a version. */
export function isOurs({ apiVersion, kind }: Record<string, unknown>): boolean {
  if (apiVersion === undefined) return typeof kind === 'string' && KIND_NAMES.includes(kind);
  return typeof apiVersion === 'string' && apiVersion.split('/')[0] === GROUP;
}

/** Checks an object of our group. */
export function checkObject(object: Record<string, unknown>): CheckedObject {
  const { apiVersion, kind } = object;
  const schema = typeof kind === 'string' ? schemaOf(kind) : undefined;
  if (!schema || apiVersion !== API_VERSION) return { problems: [unknownKind(object)] };
  const structural = [...metadataProblems(object['metadata']), ...structuralProblems(object, schema, [])];
  const complete = withSchemaDefaults(object, schema) as Record<string, unknown>;
  const invalid = structural.filter(({ isName }) => !isName).map(({ path }) => path);
  const problems = [...structural, ...ruleProblems(complete, schema, [], invalid)];
  return problems.length === 0 ? { problems, stored: complete } : { problems };
}

function unknownKind({ apiVersion, kind }: Record<string, unknown>): Problem {
  if (apiVersion === undefined)
    return { path: [], message: `apiVersion not set: write apiVersion: ${API_VERSION}` };
  const asked = `no matches for kind ${JSON.stringify(kind ?? '')} in version ${JSON.stringify(apiVersion)}`;
  return {
    path: [apiVersion === API_VERSION ? 'kind' : 'apiVersion'],
    message: `${asked}: the kinds of ${API_VERSION} are ${KIND_NAMES.join(', ')}`,
  };
}

const NAME = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;
const NAME_LENGTH = 253;

function metadataProblems(metadata: unknown): Problem[] {
  if (!isRecord(metadata)) return [nameMissing];
  const { name, generateName } = metadata;
  return [
    ...(name === undefined && generateName === undefined ? [nameMissing] : []),
    ...(name === undefined ? [] : nameProblems(name)),
    ...['labels', 'annotations'].flatMap((field) => textMapProblems(metadata[field], field)),
  ];
}

const nameMissing: Problem = {
  path: ['metadata'],
  message: 'metadata.name: Required value: name or generateName is required',
};

function nameProblems(name: unknown): Problem[] {
  if (typeof name === 'string' && name.length <= NAME_LENGTH && NAME.test(name)) return [];
  const rule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
  return [
    { path: ['metadata', 'name'], message: `metadata.name: Invalid value: ${JSON.stringify(name)}: ${rule}` },
  ];
}

/** Labels and annotations are texts: `true` and `1` need quotes. */
function textMapProblems(map: unknown, field: string): Problem[] {
  if (!isRecord(map)) return [];
  return Object.entries(map)
    .filter(([, value]) => typeof value !== 'string')
    .map(([name, value]) => ({
      path: ['metadata', field, name],
      message: `metadata.${field}: the value of ${name} is ${JSON.stringify(value)} and must be a string: put quotes around it`,
    }));
}
