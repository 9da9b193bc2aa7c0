/** Changes of what a form edits. An optional member that was emptied is removed, so that manifests hold only what somebody wanted. */

export type Values = Readonly<Record<string, unknown>>;

/** The object with that member, or without it where the value says nothing. */
export function withMember(values: Values, name: string, value: unknown): Values {
  if (isNothing(value)) {
    const { [name]: _removed, ...rest } = values;
    return rest;
  }
  return { ...values, [name]: value };
}

/** Whether a value says nothing: an emptied input, list or object. */
export function isNothing(value: unknown): boolean {
  if (value === undefined || value === '') return true;
  if (typeof value !== 'object' || value === null) return false;
  return Object.keys(value).length === 0;
}

/** The members of a value; none of what is no object. */
export function valuesOf(value: unknown): Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Values) : {};
}

/** A text as a value of one line: `5` is a number, `true` true or false, `null` null, `"5"` in quotes the text 5, the rest as it is. */
export function scalarOf(text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === 'true') return true;
  if (trimmed === 'false') return false;
  if (trimmed === 'null') return null;
  if (/^-?\d/.test(trimmed) && String(Number(trimmed)) === trimmed) return Number(trimmed);
  const quoted = /^"(.*)"$/s.exec(trimmed)?.[1];
  return quoted !== undefined && scalarOf(quoted) !== quoted ? quoted : text;
}

/** What is written for a value; `scalarOf` gives the value back. Objects and lists are shown as JSON. */
export function scalarText(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value !== 'string') return JSON.stringify(value);
  return scalarOf(value) === value ? value : `"${value}"`;
}

/** Whether the value is a text that holds a reference, or begins one. */
export function holdsReference(value: unknown): boolean {
  return typeof value === 'string' && value.includes('{{');
}

/** A problem of a field below a node: `field` is its path, such as `skill.parameters.to`. */
export type FieldProblem = { field: string; message: string };

/** The problems of the field itself, and of what is in it where `isLeaf`. */
export function problemsAt(problems: readonly FieldProblem[], path: string, isLeaf: boolean): string[] {
  const isBelow = (field: string) => isLeaf && (field.startsWith(`${path}.`) || field.startsWith(`${path}[`));
  const found = problems.filter(({ field }) => field === path || isBelow(field));
  return [...new Set(found.map(({ message }) => message))];
}
