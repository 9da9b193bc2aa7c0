/** Conditions as rows of field, operator and value, and how they are written in CEL. Pure. */
import type { PathStep } from '../../../api/expression/reference.ts';
import { celStep } from '../expression/cel.ts';

/** The path to a value: the name with which it begins in CEL, then its steps: `nodes`, `agent_1`, … */
export type Field = readonly PathStep[];

type Form = 'compare' | 'method' | 'in' | 'size' | 'constant' | 'has';

type Rule = {
  label: string;
  form: Form;
  /** The operator, method or constant in CEL. */
  cel: string;
  isNegated?: true;
  /** Holds for a field that is missing. */
  holdsIfMissing?: true;
  hasValue?: true;
  /** The types of fields for which it is offered first; without: all. */
  types?: readonly string[];
};

const TEXT = ['text'];
const LIST = ['list'];
const ORDERED = ['number', 'text'];
const SIZED = ['text', 'list', 'object'];

/**
 * In the order in which they are offered. Each form of CEL has one operator: rows can be read back. A field
 * that is missing is unequal to everything, false, empty and null, as in n8n.
 */
const OPERATORS = {
  equals: { label: 'equals', form: 'compare', cel: '==', hasValue: true, types: ORDERED },
  notEquals: {
    label: 'does not equal',
    form: 'compare',
    cel: '!=',
    holdsIfMissing: true,
    hasValue: true,
    types: ORDERED,
  },
  greater: { label: 'is greater than', form: 'compare', cel: '>', hasValue: true, types: ['number'] },
  atLeast: { label: 'is at least', form: 'compare', cel: '>=', hasValue: true, types: ['number'] },
  less: { label: 'is less than', form: 'compare', cel: '<', hasValue: true, types: ['number'] },
  atMost: { label: 'is at most', form: 'compare', cel: '<=', hasValue: true, types: ['number'] },
  contains: { label: 'contains', form: 'method', cel: 'contains', hasValue: true, types: TEXT },
  notContains: {
    label: 'does not contain',
    form: 'method',
    cel: 'contains',
    isNegated: true,
    holdsIfMissing: true,
    hasValue: true,
    types: TEXT,
  },
  startsWith: { label: 'starts with', form: 'method', cel: 'startsWith', hasValue: true, types: TEXT },
  endsWith: { label: 'ends with', form: 'method', cel: 'endsWith', hasValue: true, types: TEXT },
  matches: { label: 'matches the pattern', form: 'method', cel: 'matches', hasValue: true, types: TEXT },
  isTrue: { label: 'is true', form: 'constant', cel: '== true', types: ['boolean'] },
  isFalse: {
    label: 'is false',
    form: 'constant',
    cel: '== false',
    holdsIfMissing: true,
    types: ['boolean'],
  },
  includes: { label: 'has the element', form: 'in', cel: 'in', hasValue: true, types: LIST },
  notIncludes: {
    label: 'does not have the element',
    form: 'in',
    cel: 'in',
    isNegated: true,
    holdsIfMissing: true,
    hasValue: true,
    types: LIST,
  },
  isEmpty: { label: 'is empty', form: 'size', cel: '== 0', holdsIfMissing: true, types: SIZED },
  isNotEmpty: { label: 'is not empty', form: 'size', cel: '> 0', types: SIZED },
  exists: { label: 'exists', form: 'has', cel: 'has' },
  missing: { label: 'does not exist', form: 'has', cel: 'has', isNegated: true },
  isNull: { label: 'is null', form: 'constant', cel: '== null', holdsIfMissing: true },
  isNotNull: { label: 'is not null', form: 'constant', cel: '!= null' },
} as const satisfies Record<string, Rule>;

export type Operator = keyof typeof OPERATORS;

/** All operators, in their order. */
export const OPERATOR_NAMES = Object.keys(OPERATORS) as Operator[];

export function operatorOf(name: Operator): Rule {
  return OPERATORS[name];
}

export type Row = { field: Field; operator: Operator; value?: string | number };

/** Rows of which all (`and`) or one (`or`) must hold. */
export type Rows = { join: 'and' | 'or'; rows: readonly Row[] };

/**
 * What an author should know of rows whose field is not chosen yet: they are no part of the condition.
 * `without`: what holds without a condition.
 */
export function rowsNote(
  rows: readonly { field?: Field | undefined }[],
  without: string,
): string | undefined {
  const complete = rows.filter(({ field }) => field !== undefined);
  if (complete.length === 0) return without;
  return complete.length < rows.length ? 'A row without a field is left out.' : undefined;
}

const ORDERING: readonly Operator[] = ['greater', 'atLeast', 'less', 'atMost'];

/** What an author should know of a row that compares with a number: other types have no order with it. */
export function orderNote({ operator, value }: Pick<Row, 'operator' | 'value'>): string | undefined {
  const isOrdered = ORDERING.includes(operator) && typeof value === 'number';
  return isOrdered ? 'A run fails if the value is not a number, such as text or null.' : undefined;
}

/** The beginning of a number, such as `-` and `1.`, too. */
const BEGUN_NUMBER = /^\s*-?\d*\.?\d*(?:e[+-]?\d*)?\s*$/i;

/** What is wrong with a value that is put in order with a field whose last value is a number. */
export function valueProblem(
  { operator, value }: Pick<Row, 'operator' | 'value'>,
  type: string | undefined,
): string | undefined {
  const isText = typeof value === 'string' && !BEGUN_NUMBER.test(value);
  return isText && type === 'number' && ORDERING.includes(operator)
    ? 'Enter a number: the last value of the field is one.'
    : undefined;
}

/** Whether the row needs a value that nobody has entered yet. */
export function lacksValue({ operator, value = '' }: Pick<Row, 'operator' | 'value'>): boolean {
  return operatorOf(operator).hasValue === true && value === '';
}

/** The field in CEL: `nodes.agent_1.data_content.items[0]["any key"]`. */
export function printField([root = '', ...path]: Field): string {
  return `${root}${path.map(celStep).join('')}`;
}

/** Whether the operator can be written for the field: a root alone cannot be tested. */
export function isAllowed(operator: Operator, { length }: Field): boolean {
  return operatorOf(operator).form !== 'has' || length > 1;
}

/** The members that exist wherever a condition may read them: in the bodies of their group. */
const OF_ITEMS: readonly (PathStep | undefined)[] = ['item', 'index'];

/**
 * How many steps of the field always exist. A failed node has `error` alone, and `headers` has only what the
 * event brings. Variables and members of `run` are checked before a run.
 */
function sureSteps([root, , member]: Field): number {
  if (root === 'previous') return 1;
  if (root !== 'nodes') return Infinity;
  return OF_ITEMS.includes(member) ? 3 : 2;
}

/**
 * The place in the field of the first step that its test is written as one that need not exist: the last one,
 * where all steps always exist.
 */
export function firstTestedStep(field: Field): number {
  return Math.min(sureSteps(field), field.length - 1);
}

/** Whether a run may come without the field: its condition tests it first. */
function mayBeMissing(field: Field): boolean {
  return field.length > sureSteps(field);
}

/**
 * Whether the row is the test of the same field that stands before this row, as its rows are written with
 * this join.
 */
export function isTestOf(test: Row, row: Row, join: Rows['join']): boolean {
  const { form, isNegated = false } = operatorOf(test.operator);
  const tested = operatorOf(row.operator);
  const isOr = join === 'or';
  return (
    form === 'has' &&
    tested.form !== 'has' &&
    isNegated === isOr &&
    (tested.holdsIfMissing ?? false) === isOr &&
    mayBeMissing(row.field) &&
    printField(test.field) === printField(row.field)
  );
}

/** The condition of one row in CEL. It does not fail where the field is missing. */
export function printRow(row: Row): string {
  const condition = conditionOf(row);
  const sign = signOf(row);
  if (sign === undefined) return condition;
  return `${sign === '||' ? '!' : ''}${printTest(row.field)} ${sign} ${condition}`;
}

/** What joins the row with the test of its field; undefined: it is written without one. */
function signOf({ field, operator }: Row): '&&' | '||' | undefined {
  return mayBeMissing(field) ? signAfterTest(operator) : undefined;
}

/** What joins the test of a field that may be missing with the row; undefined: the row is that test. */
export function signAfterTest(operator: Operator): '&&' | '||' | undefined {
  const { form, holdsIfMissing = false } = operatorOf(operator);
  if (form === 'has') return undefined;
  return holdsIfMissing ? '||' : '&&';
}

/**
 * Whether the field exists, in CEL: after `.?` no step needs to exist. `has()` accepts paths of names only.
 */
function printTest(field: Field): string {
  const [root = '', ...steps] = field;
  const path = steps.map(celStep);
  const sure = firstTestedStep(field) - 1;
  const start = `${root}${path.slice(0, sure).join('')}`;
  const [next = '', ...rest] = path.slice(sure);
  if (path.every((step) => step.startsWith('.')))
    return `has(${start}${rest.length === 0 ? next : optional(next)}${rest.join('')})`;
  return `${start}${[next, ...rest].map(optional).join('')}.hasValue()`;
}

/** `.?name` for `.name`, and `[?0]` for `[0]`. */
function optional(step: string): string {
  return `${step.slice(0, 1)}?${step.slice(1)}`;
}

function conditionOf({ field, operator, value = '' }: Row): string {
  if (operatorOf(operator).form !== 'has')
    return printCondition(operator, printField(field), printLiteral(value));
  return `${operatorOf(operator).isNegated ? '!' : ''}${printTest(field)}`;
}

/** The condition of the row, without a test, with the field and the value as they are written. */
export function printCondition(operator: Operator, field: string, literal: string): string {
  const { form, cel, isNegated = false } = operatorOf(operator);
  const not = isNegated ? '!' : '';
  switch (form) {
    case 'compare':
      return `${field} ${cel} ${literal}`;
    case 'constant':
      return `${field} ${cel}`;
    case 'method':
      return `${not}${field}.${cel}(${literal})`;
    case 'size':
      return `size(${field}) ${cel}`;
    case 'in':
      return isNegated ? `!(${literal} in ${field})` : `${literal} in ${field}`;
    case 'has':
      return `${not}has(${field})`;
  }
}

/** Integers that are not exact are written as doubles. */
function printLiteral(value: string | number): string {
  if (typeof value === 'string') return JSON.stringify(value.toWellFormed());
  const text = String(value);
  return Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(text) ? `${text}.0` : text;
}

/** The condition in CEL; undefined if there are no rows. */
export function printRows({ join, rows }: Rows): string | undefined {
  if (rows.length === 0) return undefined;
  const sign = join === 'and' ? '&&' : '||';
  const isBracketed = (row: Row) => rows.length > 1 && ![undefined, sign].includes(signOf(row));
  return rows.map((row) => (isBracketed(row) ? `(${printRow(row)})` : printRow(row))).join(` ${sign} `);
}

/** The type of the value for a field of this type; undefined: text, or a number. */
export function valueType(operator: Operator, type: string | undefined): 'text' | 'number' | undefined {
  if (operatorOf(operator).form === 'method') return 'text';
  const isComparison = operatorOf(operator).form === 'compare';
  return isComparison && (type === 'text' || type === 'number') ? type : undefined;
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/**
 * The value that a text stands for: a number where the field has one, or where its type is unknown and the
 * text is one. A value that is text stays text.
 */
export function valueFrom(
  text: string,
  type: string | undefined,
  before: string | number | undefined,
): string | number {
  const isNumber = NUMBER.test(text.trim());
  if (!isNumber || (type !== undefined && type !== 'number')) return text;
  const wasText = typeof before === 'string' && NUMBER.test(before);
  return type === undefined && wasText ? text : Number(text);
}
