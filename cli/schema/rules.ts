/**
 * Evaluates the CEL rules of a CRD as the API server does for an object that is created. Rules that compare
 * with the object before (`oldSelf`) do not apply.
 */
import { Environment, type ParseResult } from '@marcbachmann/cel-js';
import { isRecord } from '../../api/record.ts';
import { Quantity } from './quantity.ts';
import { printPath, type Path, type Problem, type Rule, type Schema } from './types.ts';

/** The variable and the functions that rules use beside those of cel-js. */
const ENVIRONMENT = new Environment({ homogeneousAggregateLiterals: false, enableOptionalTypes: true })
  .registerVariable('self', 'dyn')
  .registerType('Quantity', { ctor: Quantity, fields: {} });

const indexIn = (list: unknown[], item: unknown) => BigInt(list.indexOf(item));

const FUNCTIONS: Readonly<Record<string, (...values: never[]) => unknown>> = {
  'list.indexOf(dyn): int': indexIn,
  'list.lastIndexOf(dyn): int': (list: unknown[], item: unknown) => BigInt(list.lastIndexOf(item)),
  'list.sum(): double': (list: number[]) => list.reduce((sum, each) => sum + each, 0),
  'string.find(string): string': (text: string, pattern: string) => new RegExp(pattern).exec(text)?.[0] ?? '',
  'string.findAll(string): list<string>': (text: string, pattern: string) =>
    Array.from(text.matchAll(new RegExp(pattern, 'g')), ([found]) => found),
  'quantity(string): Quantity': (text: string) => new Quantity(text),
  'Quantity.compareTo(Quantity): int': (one: Quantity, other: Quantity) =>
    BigInt(Math.sign(one.value - other.value)),
};
for (const [signature, handler] of Object.entries(FUNCTIONS))
  ENVIRONMENT.registerFunction(signature, handler);

/** Compiled expressions by their source: the schemas have the same ones in many places. */
const compiled = new Map<string, ParseResult>();

function evaluate(source: string, self: unknown): unknown {
  const program = compiled.get(source) ?? ENVIRONMENT.parse(source);
  compiled.set(source, program);
  return program({ self });
}

/**
 * The problems that the rules of a schema find in a value with its defaults. `invalid`: places with
 * structural problems; rules of what is in or around one are not evaluated.
 */
export function ruleProblems(
  value: unknown,
  schema: Schema,
  path: Path,
  invalid: readonly Path[],
): Problem[] {
  if (value === undefined || value === null) return [];
  const rules = schema['x-kubernetes-validations'] ?? [];
  const mayEvaluate =
    rules.length > 0 && !invalid.some((each) => isInside(each, path) || isInside(path, each));
  const self = mayEvaluate ? toSelf(value, schema) : undefined;
  const own = mayEvaluate ? rules.flatMap((rule) => problemOf(rule, self, path)) : [];
  return [...own, ...problemsInside(value, schema, path, invalid)];
}

function problemsInside(value: unknown, schema: Schema, path: Path, invalid: readonly Path[]): Problem[] {
  const { items, properties, additionalProperties } = schema;
  if (Array.isArray(value)) {
    if (!items) return [];
    return value.flatMap((item, index) => ruleProblems(item, items, [...path, index], invalid));
  }
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const of = properties && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    return of ? ruleProblems(member, of, [...path, name], invalid) : [];
  });
}

function isInside(path: Path, outer: Path): boolean {
  return outer.length <= path.length && outer.every((part, index) => part === path[index]);
}

function problemOf(rule: Rule, self: unknown, path: Path): Problem[] {
  if (/\boldSelf\b/.test(rule.rule) || holds(rule, self)) return [];
  const [, ...named] = rule.fieldPath?.split('.') ?? [];
  const at = [...path, ...named];
  const shown =
    typeof self === 'string' ? JSON.stringify(self) : `"${Array.isArray(self) ? 'array' : 'object'}"`;
  return [{ path: at, message: `${printPath(at)}: Invalid value: ${shown}: ${messageOf(rule, self)}` }];
}

/** A rule that fails, such as for a member that is missing, refuses the object, as in the API server. */
function holds({ rule }: Rule, self: unknown): boolean {
  try {
    return evaluate(rule, self) === true;
  } catch (error) {
    if (isFailure(error)) return false;
    throw error;
  }
}

function messageOf({ message, messageExpression }: Rule, self: unknown): string {
  if (messageExpression === undefined) return message;
  try {
    const text = evaluate(messageExpression, self);
    return typeof text === 'string' ? text : message;
  } catch (error) {
    if (isFailure(error)) return message;
    throw error;
  }
}

/** Whether an evaluation failed; an expression that cannot be compiled is a defect. */
function isFailure(error: unknown): boolean {
  return error instanceof RangeError || (error instanceof Error && error.name === 'EvaluationError');
}

/** The value as rules see it: names of fields that CEL cannot write are escaped. */
function toSelf(value: unknown, schema: Schema): unknown {
  const { items, properties = {}, additionalProperties } = schema;
  if (Array.isArray(value)) return items ? value.map((item) => toSelf(item, items)) : value;
  if (!isRecord(value)) return value;
  const members = Object.entries(value).map(([name, member]) => {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const of = known ?? additionalProperties;
    return [known ? escaped(name) : name, of ? toSelf(member, of) : member] as const;
  });
  // cel-js tells types apart by their constructors.
  const isStrange = members.some(([name]) => name === 'constructor');
  return isStrange ? new Map(members) : Object.fromEntries(members);
}

function escaped(name: string): string {
  return name.replaceAll('-', '__dash__').replaceAll('.', '__dot__').replaceAll('/', '__slash__');
}
