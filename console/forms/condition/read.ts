/**
 * Reads a condition in CEL as rows, where it has that form. It contains the CEL compiler: import it lazily.
 */
import { compileCondition } from '../../../api/cel.ts';
import { accessParts, callParts, isSyntaxNode, type SyntaxNode } from '../../../api/cel/syntax.ts';
import {
  firstTestedStep,
  isTestOf,
  OPERATOR_NAMES,
  operatorOf,
  type Field,
  type Operator,
  type Row,
  type Rows,
} from './rows.ts';

/**
 * The rows of which the condition consists; undefined if it has another form or cannot be compiled. Writing
 * them yields a condition with the same meaning, except that a field that is missing no longer fails it.
 */
export function readRows(source: string): Rows | undefined {
  const root = parsed(source);
  if (root === undefined || hasComment(source)) return undefined;
  const join = root.op === '||' ? 'or' : 'and';
  const rows = readJoined(root, join);
  return rows && { join: rows.length === 1 ? 'and' : join, rows };
}

const SIGNS = { and: '&&', or: '||' } as const;

/** The rows of a chain. The test of a field belongs to the row after it that needs it. */
function readJoined(node: SyntaxNode, join: Rows['join']): Row[] | undefined {
  const rows: Row[] = [];
  for (const part of flattened(node, SIGNS[join])) {
    const next = readRow(part) ?? readBracketed(part, join === 'and' ? 'or' : 'and');
    if (next === undefined) return undefined;
    const before = rows.at(-1);
    if (before !== undefined && isTestOf(before, next, join)) rows.pop();
    rows.push(next);
  }
  return rows;
}

/** A row with its test in brackets, in a chain of the other join. */
function readBracketed(node: SyntaxNode, join: Rows['join']): Row | undefined {
  if (node.op !== SIGNS[join]) return undefined;
  const [row, ...more] = readJoined(node, join) ?? [];
  return more.length === 0 ? row : undefined;
}

function parsed(source: string): SyntaxNode | undefined {
  try {
    const root: unknown = compileCondition(source).program.ast;
    return isSyntaxNode(root) ? root : undefined;
  } catch {
    return undefined;
  }
}

/** Comments would be lost. */
function hasComment(source: string): boolean {
  return source.replaceAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '').includes('//');
}

function flattened(node: SyntaxNode, op: string): SyntaxNode[] {
  return node.op === op ? operandsOf(node).flatMap((each) => flattened(each, op)) : [node];
}

function operandsOf({ args }: SyntaxNode): SyntaxNode[] {
  return (Array.isArray(args) ? args : [args]).filter(isSyntaxNode);
}

function readRow(node: SyntaxNode): Row | undefined {
  if (node.op !== '!_') return readPlain(node, false);
  const [inner] = operandsOf(node);
  return inner && readPlain(inner, true);
}

function readPlain(node: SyntaxNode, isNegated: boolean): Row | undefined {
  const call = callParts(node);
  if (call?.name === 'has') return row('has', 'has', isNegated, testedIn(argumentsOf(node)[0]));
  if (call?.name === 'hasValue') return row('has', 'has', isNegated, optionalIn(operandsOf(node)[0]));
  if (call?.receiver === true) return readMethod(node, call.name, isNegated);
  if (node.op === 'in') return readIn(node, isNegated);
  return isNegated ? undefined : readComparison(node);
}

function readMethod(node: SyntaxNode, method: string, isNegated: boolean): Row | undefined {
  const [value, ...more] = argumentsOf(node);
  const literal = literalOf(value);
  if (more.length > 0 || typeof literal !== 'string') return undefined;
  return row('method', method, isNegated, fieldIn(operandsOf(node)[0]), literal);
}

/** The arguments of a call, without its receiver. */
function argumentsOf({ args }: SyntaxNode): SyntaxNode[] {
  const list: unknown = Array.isArray(args) ? args.at(-1) : undefined;
  return Array.isArray(list) ? list.filter(isSyntaxNode) : [];
}

function readIn(node: SyntaxNode, isNegated: boolean): Row | undefined {
  const [value, list] = operandsOf(node);
  const literal = literalOf(value);
  if (typeof literal !== 'string' && typeof literal !== 'number') return undefined;
  return row('in', 'in', isNegated, fieldIn(list), literal);
}

function readComparison(node: SyntaxNode): Row | undefined {
  const [left, right] = operandsOf(node);
  if (left === undefined) return undefined;
  const literal = literalOf(right);
  if (callParts(left)?.name === 'size' && callParts(left)?.receiver === false)
    return row('size', `${node.op} ${String(literal)}`, false, fieldIn(argumentsOf(left)[0]));
  if (typeof literal === 'boolean' || literal === null)
    return row('constant', `${node.op} ${literal}`, false, fieldIn(left));
  return literal === undefined ? undefined : row('compare', node.op, false, fieldIn(left), literal);
}

function row(
  form: string,
  cel: string,
  isNegated: boolean,
  field: Field | undefined,
  value?: string | number,
): Row | undefined {
  const operator = OPERATOR_NAMES.find((name) => {
    const rule = operatorOf(name);
    return rule.form === form && rule.cel === cel && (rule.isNegated ?? false) === isNegated;
  });
  if (operator === undefined || field === undefined) return undefined;
  return { field, operator, ...(value !== undefined && { value }) } satisfies { operator: Operator } & Row;
}

const ROOTS = new Set(['nodes', 'previous', 'run', 'vars']);

/** The path of an optional value. */
function optionalIn(node: SyntaxNode | undefined): Field | undefined {
  return node !== undefined && accessParts(node)?.optional === true ? testedIn(node) : undefined;
}

/**
 * The path that is tested. Undefined if a step need not exist there which its row requires: written as a row,
 * the test would fail where it is false now.
 */
function testedIn(node: SyntaxNode | undefined): Field | undefined {
  const path = node && pathIn(node);
  if (path === undefined) return undefined;
  const field = path.map(({ step }) => step);
  const first = path.findIndex(({ isOptional }) => isOptional);
  return first === -1 || first >= firstTestedStep(field) ? field : undefined;
}

/** The path that a chain of members is, all of which must exist; undefined for other expressions. */
function fieldIn(node: SyntaxNode | undefined): Field | undefined {
  const path = node && pathIn(node);
  return path?.some(({ isOptional }) => isOptional) ? undefined : path?.map(({ step }) => step);
}

type ReadStep = { step: Field[number]; isOptional: boolean };

function pathIn(node: SyntaxNode): ReadStep[] | undefined {
  if (node.op === 'id') {
    if (typeof node.args !== 'string' || !ROOTS.has(node.args)) return undefined;
    return [{ step: node.args, isOptional: false }];
  }
  const access = accessParts(node);
  if (access?.key === undefined) return undefined;
  const from = pathIn(access.from);
  return from && [...from, { step: access.key, isOptional: access.optional }];
}

/** Undefined: no literal, or one that a number in JavaScript cannot represent. */
function literalOf(node: SyntaxNode | undefined): string | number | boolean | null | undefined {
  if (node?.op === '-_') {
    const value = literalOf(operandsOf(node)[0]);
    return typeof value === 'number' ? -value : undefined;
  }
  if (node?.op !== 'value') return undefined;
  const value: unknown = typeof node.args === 'bigint' ? Number(node.args) : node.args;
  if (typeof node.args === 'bigint' && !Number.isSafeInteger(value)) return undefined;
  const isLiteral =
    value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return isLiteral ? value : undefined;
}
