/**
 * Validates values against structural schemas as the API server does: types, bounds, enumerations, patterns,
 * required and unknown fields. Messages are those of the API server, so that they can be searched for.
 */
import { isRecord } from '../../api/record.ts';
import { printPath, type Path, type Problem, type Schema } from './types.ts';

/** All problems of a value, in the order of its fields; empty if it is valid. */
export function structuralProblems(value: unknown, schema: Schema, path: Path): Problem[] {
  if (value === null && schema.nullable) return [];
  if (schema.type !== undefined && !isOfType(value, schema.type))
    return [wrongType(value, schema.type, path)];
  const own = scalarProblems(value, schema, path);
  if (Array.isArray(value)) return [...own, ...listProblems(value, schema, path)];
  if (isRecord(value)) return [...own, ...fieldProblems(value, schema, path)];
  return own;
}

/** A copy of a valid value with the defaults of its schema. */
export function withSchemaDefaults(value: unknown, schema: Schema): unknown {
  const { items, properties = {}, additionalProperties } = schema;
  if (Array.isArray(value)) return items ? value.map((item) => withSchemaDefaults(item, items)) : value;
  if (!isRecord(value)) return value;
  const members = Object.entries(value)
    .filter(([name, member]) => !isLeftOut(member, properties[name] ?? {}))
    .map(([name, member]) => {
      const of = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
      return [name, of ? withSchemaDefaults(member, of) : member] as const;
    });
  const missing = Object.entries(properties)
    .filter(([name, { default: given }]) => given !== undefined && (value[name] ?? undefined) === undefined)
    .map(([name, { default: given }]) => [name, given] as const);
  return Object.fromEntries([...members, ...missing]);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function isOfType(value: unknown, type: string): boolean {
  const actual = typeOf(value);
  return actual === type || (type === 'number' && actual === 'integer');
}

function wrongType(value: unknown, type: string, path: Path): Problem {
  const actual = typeOf(value);
  return invalid(path, `"${actual}"`, `must be of type ${type}: "${actual}"`);
}

/** The API server names the place twice. */
function invalid(path: Path, shown: string, problem: string): Problem {
  const place = printPath(path);
  return { path, message: `${place}: Invalid value: ${shown}: ${place} in body ${problem}` };
}

function scalarProblems(value: unknown, schema: Schema, path: Path): Problem[] {
  const allowed = schema.enum;
  const unsupported = allowed !== undefined && !allowed.includes(value);
  return [
    ...(unsupported ? [{ path, message: unsupportedMessage(value, allowed, path) }] : []),
    ...(typeof value === 'string' ? textProblems(value, schema, path) : []),
    ...(typeof value === 'number' ? numberProblems(value, schema, path) : []),
  ];
}

function unsupportedMessage(value: unknown, allowed: readonly unknown[], path: Path): string {
  const list = allowed.map((each) => JSON.stringify(each)).join(', ');
  return `${printPath(path)}: Unsupported value: ${JSON.stringify(value)}: supported values: ${list}`;
}

/** Patterns are those of our own schemas, which texts within their bounds match in linear time. */
const patterns = new Map<string, RegExp>();

function patternOf(text: string): RegExp {
  const known = patterns.get(text) ?? new RegExp(text, 'u');
  patterns.set(text, known);
  return known;
}

function textProblems(text: string, { minLength = 0, maxLength, pattern }: Schema, path: Path): Problem[] {
  // Characters, not UTF-16 units.
  const length = maxLength !== undefined && text.length > maxLength ? Array.from(text).length : text.length;
  if (maxLength !== undefined && length > maxLength)
    return [{ path, message: `${printPath(path)}: Too long: may not be more than ${maxLength} bytes` }];
  const shown = JSON.stringify(text);
  return [
    ...(length < minLength ? [invalid(path, shown, `should be at least ${minLength} chars long`)] : []),
    ...(pattern !== undefined && !patternOf(pattern).test(text)
      ? [invalid(path, shown, `should match '${pattern}'`)]
      : []),
  ];
}

function numberProblems(value: number, { minimum, maximum }: Schema, path: Path): Problem[] {
  return [
    ...(minimum !== undefined && value < minimum
      ? [invalid(path, String(value), `should be greater than or equal to ${minimum}`)]
      : []),
    ...(maximum !== undefined && value > maximum
      ? [invalid(path, String(value), `should be less than or equal to ${maximum}`)]
      : []),
  ];
}

function listProblems(list: readonly unknown[], schema: Schema, path: Path): Problem[] {
  const { items, minItems = 0, maxItems } = schema;
  // A list that is far too long is not read.
  if (maxItems !== undefined && list.length > maxItems) {
    const message = `${printPath(path)}: Too many: ${list.length}: must have at most ${maxItems} items`;
    return [{ path, message }];
  }
  return [
    ...(list.length < minItems
      ? [invalid(path, String(list.length), `should have at least ${minItems} items`)]
      : []),
    ...duplicates(list, schema, path),
    ...(items ? list.flatMap((item, index) => structuralProblems(item, items, [...path, index])) : []),
  ];
}

/** Items of a list of type `map` with the same keys, and equal items of a list of type `set`. */
function duplicates(list: readonly unknown[], schema: Schema, path: Path): Problem[] {
  const type = schema['x-kubernetes-list-type'];
  if (type !== 'map' && type !== 'set') return [];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const seen = new Set<string>();
  return list.flatMap((item, index): Problem[] => {
    const identity = isRecord(item) && type === 'map' ? keys.map((key) => [key, item[key]]) : item;
    const text = JSON.stringify(identity);
    if (!seen.has(text)) {
      seen.add(text);
      return [];
    }
    const at = [...path, index];
    return [{ path: at, message: `${printPath(at)}: Duplicate value: ${text}` }];
  });
}

function fieldProblems(value: Record<string, unknown>, schema: Schema, path: Path): Problem[] {
  const { properties, additionalProperties, required = [] } = schema;
  const isFree = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const missing = required
    .filter((name) => !Object.hasOwn(value, name))
    .map((name) => [...path, name])
    .map((at) => ({ path: at, message: `${printPath(at)}: Required value` }));
  if (properties === undefined && additionalProperties === undefined) return missing;
  const ofFields = Object.entries(value).flatMap(([name, member]): Problem[] => {
    const at = [...path, name];
    const known = properties && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (known) return isLeftOut(member, known) ? [] : structuralProblems(member, known, at);
    return isFree ? [] : [{ path: at, message: `unknown field "${printPath(at)}"`, isName: true }];
  });
  return [...missing, ...ofFields];
}

/** The default takes the place of a null. */
function isLeftOut(value: unknown, { nullable, default: given }: Schema): boolean {
  return value === null && nullable !== true && given !== undefined;
}
