/**
 * Changes of the values of a form. Empty optional members are removed, so that manifests contain only
 * intended values.
 */
import { withoutPlace } from './place.ts';

export type Values = Readonly<Record<string, unknown>>;

/** Sets the member, or removes it if the value is empty. */
export function withMember(values: Values, name: string, value: unknown): Values {
  if (isNothing(value)) {
    const { [name]: _removed, ...rest } = values;
    return rest;
  }
  return { ...values, [name]: value };
}

/** Whether a value is empty: an emptied input, list or object. */
export function isNothing(value: unknown): boolean {
  if (value === undefined || value === '') return true;
  if (typeof value !== 'object' || value === null) return false;
  return Object.keys(value).length === 0;
}

/** The members of a value; none if it is not an object. */
export function valuesOf(value: unknown): Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Values) : {};
}

export type Rows = readonly (readonly [name: string, value: unknown])[];

/**
 * The rows of named values: as they are typed, which may be without a name for now. If the value is another
 * one since, as after an undo, its own.
 */
export function shownRows(typed: Rows, value: unknown): Rows {
  return JSON.stringify(namedValues(typed)) === JSON.stringify(valuesOf(value))
    ? typed
    : Object.entries(valuesOf(value));
}

/** Rows without a name are not in the value yet. */
export function namedValues(rows: Rows): Values {
  return Object.fromEntries(rows.filter(([name]) => name !== ''));
}

/**
 * Parses a value on one line: `5` is a number, `true` a boolean, `null` null, `"5"` the string 5, anything
 * else a string.
 */
export function scalarOf(text: string): unknown {
  const trimmed = text.trim();
  const plain = plainScalarOf(trimmed);
  if (plain !== undefined) return plain;
  const quoted = quotedIn(trimmed);
  return quoted !== undefined && quotesScalar(quoted) ? quoted : text;
}

function plainScalarOf(text: string): number | boolean | null | undefined {
  if (text === 'true') return true;
  if (text === 'false') return false;
  if (text === 'null') return null;
  return /^-?\d/.test(text) && String(Number(text)) === text ? Number(text) : undefined;
}

function quotedIn(text: string): string | undefined {
  return text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : undefined;
}

/** Whether there is no string within all quotation marks. Not recursive: a text may consist of them. */
function quotesScalar(text: string): boolean {
  let inner: string | undefined = text;
  while (inner !== undefined) {
    const trimmed: string = inner.trim();
    if (plainScalarOf(trimmed) !== undefined) return true;
    inner = quotedIn(trimmed);
  }
  return false;
}

/** The inverse of `scalarOf`. Objects and lists become JSON. */
export function scalarText(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value !== 'string') return JSON.stringify(value);
  return scalarOf(value) === value ? value : `"${value}"`;
}

/** Whether the value is a text that contains a reference or the start of one. */
export function holdsReference(value: unknown): boolean {
  return typeof value === 'string' && value.includes('{{');
}

/**
 * A problem of a field. `field` is the path within the node, such as `skill.parameters.to`. `credential`: the
 * one that does not work, whose field shows its state.
 */
export type FieldProblem = { field: string; message: string; credential?: string };

/**
 * A message without what concerns manifests alone: a form has no YAML around a value. It does not name its
 * own place.
 */
export function formText(message: string): string {
  return withoutPlace(message.replace(/ \(in YAML '.*?'\)/s, ''));
}

/** The problems of the field itself; with `isLeaf` also those of its content. */
export function problemsAt(problems: readonly FieldProblem[], path: string, isLeaf: boolean): string[] {
  const isBelow = (field: string) => isLeaf && (field.startsWith(`${path}.`) || field.startsWith(`${path}[`));
  const found = problems.filter(({ field }) => field === path || isBelow(field));
  return [...new Set(found.map(({ message }) => formText(message)))];
}

/** An error at a position of a text; line and column count from 1. */
export type Mistake = { line: number; column: number; message: string };

/** The position in `line 2, column 5: unexpected token`. */
export function mistakeIn(error: string | undefined): Mistake | undefined {
  const [, line, column, message = ''] = /\bline (\d+), column (\d+): ([^]*)/i.exec(error ?? '') ?? [];
  return line === undefined ? undefined : { line: Number(line), column: Number(column), message };
}
