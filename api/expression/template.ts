/**
 * Compiles the values of a workflow: visits objects and lists, and parses each text once. The result is plain
 * JSON data, so that it can be stored; compiling the same value again gives an equal result. Keys of objects
 * are never expressions.
 */
import { ExpressionError } from './errors.ts';
import { parseTemplate, type TemplatePart } from './parse.ts';
import { printStep, type Reference } from './reference.ts';

/** A value with parsed references. A value without references is one literal. */
export type CompiledValue =
  | { kind: 'literal'; value: unknown }
  | { kind: 'reference'; reference: Reference }
  | { kind: 'text'; parts: readonly TemplatePart[] }
  | { kind: 'list'; items: readonly CompiledValue[] }
  | { kind: 'object'; entries: readonly (readonly [string, CompiledValue])[] };

const VALUE_LIMITS = { depth: 64, references: 1_000 } as const;

/**
 * Compiles a JSON value.
 * @throws ExpressionError that starts with the path of the text in the value, for example `body.summary: line
 *   1, …`
 */
export function compileValue(value: unknown): CompiledValue {
  const compiled = compileAt(value, { path: '', depth: 0 });
  const references = referencesOf(compiled).length;
  if (references <= VALUE_LIMITS.references) return compiled;
  throw new ExpressionError(
    'Limit',
    `has ${references} references; at most ${VALUE_LIMITS.references} are allowed`,
  );
}

/** Every reference, in the order of the text, with duplicates. */
export function referencesOf(compiled: CompiledValue): Reference[] {
  if (compiled.kind === 'literal') return [];
  if (compiled.kind === 'reference') return [compiled.reference];
  if (compiled.kind === 'text') return compiled.parts.filter((part) => typeof part !== 'string');
  if (compiled.kind === 'list') return compiled.items.flatMap(referencesOf);
  return compiled.entries.flatMap(([, value]) => referencesOf(value));
}

type Place = { path: string; depth: number };

function compileAt(value: unknown, place: Place): CompiledValue {
  if (typeof value === 'string') return compileText(value, place);
  if (typeof value !== 'object' || value === null) return { kind: 'literal', value };
  if (place.depth >= VALUE_LIMITS.depth) {
    throw new ExpressionError('Limit', `values must be nested at most ${VALUE_LIMITS.depth} levels deep`, {
      path: place.path,
    });
  }
  return Array.isArray(value) ? compileList(value, place) : compileObject(value, place);
}

function compileText(text: string, place: Place): CompiledValue {
  const { parts, single } = at(place, () => parseTemplate(text));
  const [first = ''] = parts;
  if (typeof first !== 'string' && single) return { kind: 'reference', reference: first };
  if (typeof first === 'string' && parts.length <= 1) return { kind: 'literal', value: first };
  return { kind: 'text', parts };
}

function compileList(list: readonly unknown[], place: Place): CompiledValue {
  const items = list.map((item, index) => compileAt(item, below(place, index)));
  return items.every((item) => item.kind === 'literal')
    ? { kind: 'literal', value: items.map((item) => item.value) }
    : { kind: 'list', items };
}

function compileObject(object: object, place: Place): CompiledValue {
  const entries = Object.entries(object).map(
    ([key, value]) => [key, compileAt(value, below(place, key))] as const,
  );
  const literals = entries.flatMap(([key, value]) =>
    value.kind === 'literal' ? [[key, value.value] as const] : [],
  );
  return literals.length === entries.length
    ? { kind: 'literal', value: Object.fromEntries(literals) }
    : { kind: 'object', entries };
}

function below(place: Place, key: string | number): Place {
  const path = `${place.path}${printStep(key)}`;
  return { path: path.replace(/^\./, ''), depth: place.depth + 1 };
}

/** Adds the path of the text to the errors of the parser. */
function at<T>(place: Place, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof ExpressionError) || place.path === '') throw error;
    throw new ExpressionError(error.code, error.detail, { position: error.position, path: place.path });
  }
}
