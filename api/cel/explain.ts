/**
 * Converts errors of cel-js into errors that name the position and the missing value, as those of references
 * do.
 */
import { EvaluationError } from '@marcbachmann/cel-js';
import { ExpressionError, MissingValueError, type Position, positionAt } from '../expression/errors.ts';
import {
  NODE_MEMBERS,
  type PathStep,
  printPath,
  printReference,
  type Reference,
} from '../expression/reference.ts';
import { lookUp, missingValue, type Scope } from '../expression/scope.ts';
import { isBareText, quotesNeeded } from './habits.ts';
import { accessParts, isSyntaxNode, operands, type SyntaxNode } from './syntax.ts';

/** The name of exact numbers in messages of cel-js. */
export const EXACT_TYPE = 'ExactNumber';

/** The error of an evaluation. `error` is whatever was thrown. */
export function explainEvaluation(error: unknown, source: string, scope: Scope): ExpressionError {
  if (error instanceof ExpressionError) return error;
  if (!(error instanceof EvaluationError)) {
    return new ExpressionError('Type', `cannot be evaluated on this data: ${source}`);
  }
  const node: unknown = error.node;
  if (error.code === 'no_such_key' || error.code === 'index_out_of_bounds') {
    return explainMissing(isSyntaxNode(node) ? node : undefined, source, scope);
  }
  const compared = isSyntaxNode(node) ? explainComparison(error.summary, node, source) : undefined;
  // It names the operands: a position adds nothing.
  if (compared !== undefined) return new ExpressionError('Type', compared);
  const summary = QUOTING[error.code] ?? `${plainSummary(error.summary)}${exactHint(error.summary)}`;
  return new ExpressionError('Type', summary, { position: positionOf(error, source) });
}

const COMPARISON = /^no such overload: (.+?) (?:[<>]=?|[=!]=) (.+)$/;

/** The types of CEL in the words of the console. */
const TYPES: Partial<Record<string, string>> = {
  string: 'a text',
  int: 'a number',
  uint: 'a number',
  double: 'a number',
  bool: 'true or false',
  null: 'null',
  list: 'a list',
  map: 'an object',
};

/** Why two values cannot be compared, for authors who do not know CEL; undefined: another error. */
function explainComparison(summary: string, node: SyntaxNode, source: string): string | undefined {
  const [, ...types] = COMPARISON.exec(summary) ?? [];
  const [left, right] = types.map((type) => TYPES[type.replace(/^dyn</, '').replace(/\W.*/, '')]);
  const [first, second] = operands(node);
  if (left === undefined || right === undefined || !first || !second || left === right) return undefined;
  const names = [first, second].map((operand) => shortName(operand, source));
  const isClear = names[0] !== names[1];
  const [one, other] = isClear ? names : [first, second].map((operand) => cut(written(operand, source)));
  return `${one} is ${left}, and ${other} is ${right}`;
}

/** Longer operands are cut in messages. */
const LONGEST_NAME = 80;

/** An operand as messages name it: a reference by its path below the data, all others as they are written. */
function shortName(node: SyntaxNode, source: string): string {
  const reference = accessParts(node) && referenceOf(node);
  const isOfData = reference && 'member' in reference && reference.member === 'data_content';
  if (isOfData && reference.path.length > 0) return cut(printPath(reference.path).replace(/^\./, ''));
  return cut(written(node, source));
}

const written = ({ start, end }: SyntaxNode, source: string): string => source.slice(start, end);

const cut = (name: string): string => (name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name);

function exactHint(summary: string): string {
  if (!summary.includes(EXACT_TYPE)) return '';
  return `; an ${EXACT_TYPE} has more digits than arithmetic keeps: only == and != are exact, string(…) gives its digits, and double(…) rounds it`;
}

/**
 * Messages for errors in which the library quotes the value. Messages are recorded and shown to people who
 * must not see the outputs of nodes (`sensitive`, `recordData`).
 */
const QUOTING: Partial<Record<string, string>> = {
  bool_conversion_error: 'bool() accepts only the strings "true" and "false"',
  invalid_duration: 'duration() requires a string such as "90m" or "1h30m"',
  numeric_overflow: 'integer overflow',
};

/**
 * The error of an expression that cannot be parsed: where the parser stopped, with a hint for unquoted text.
 */
export function explainSyntax(
  error: { summary: string; range?: { start: number } },
  source: string,
): ExpressionError {
  const offset = error.range?.start ?? 0;
  const hint = isBareText(source) ? `; ${quotesNeeded(source)}` : '';
  const message = `${syntaxMessage(error.summary, source, offset)}${hint}`;
  return new ExpressionError('Syntax', message, { position: positionAt(source, offset) });
}

const TOKENS: Partial<Record<string, string>> = {
  COLON: ':',
  RPAREN: ')',
  RBRACKET: ']',
  RBRACE: '}',
  LPAREN: '(',
  COMMA: ',',
};

/** A readable syntax error: the library names its own tokens, and only the last letter of a word. */
function syntaxMessage(summary: string, source: string, offset: number): string {
  const [, expected] = /^Expected (\w+), got \w+$/.exec(summary) ?? [];
  if (source.trim() === '') return 'the expression is empty';
  if (summary.startsWith('Unterminated')) return 'this quote is not closed';
  const found = /^(?:\w+|\s*\S)/.exec(source.slice(offset))?.[0].slice(0, 40);
  const wanted = TOKENS[expected ?? ''];
  if (wanted !== undefined)
    return `expected ${wanted} ${found === undefined ? 'before the end' : `before ${found}`}`;
  if (found === undefined) return 'unexpected end of the expression';
  return summary.startsWith('Unexpected') ? `unexpected ${found}` : plainSummary(summary);
}

/** The position of an error of cel-js, if it has one. */
export function positionOf(error: { range?: { start: number } }, source: string): Position | undefined {
  return error.range ? positionAt(source, error.range.start) : undefined;
}

/** The library's message with its types unwrapped, and cut: `no such overload: double + string`. */
export function plainSummary(summary: string): string {
  return summary.replaceAll(/dyn<(\w+(?:<[\w, ]+>)?)>/g, '$1').slice(0, 300);
}

/**
 * Names the deepest part of `nodes.a.data_content.items[5]` that exists, if no key of the path is computed.
 */
function explainMissing(node: SyntaxNode | undefined, source: string, scope: Scope): MissingValueError {
  const written = node ? source.slice(node.start, node.end) : source;
  const reference = node && referenceOf(node);
  const isMissing = reference && lookUp(reference, scope) === undefined;
  const error = isMissing ? missingValue(reference, scope, print) : undefined;
  const message = error?.message ?? `${written} does not exist`;
  return new MissingValueError(written, `${message}; check with has(…) or size(…) first`, error?.missing);
}

function print(reference: Reference): string {
  if (reference.source === 'index') return 'index';
  if (reference.source === 'url') return printReference(reference);
  const path = printPath(reference.path);
  if (reference.source === 'node') return `nodes.${reference.node}.${reference.member}${path}`;
  return reference.source === 'previous'
    ? `previous.${reference.member}${path}`
    : `${reference.source}${path}`;
}

/** Every reference of an expression to the output of a node, each up to the first computed key. */
export function referencesIn(root: SyntaxNode): Reference[] {
  const reference = accessParts(root) && referenceOf(root);
  return reference ? [reference] : operands(root).flatMap(referencesIn);
}

function referenceOf(node: SyntaxNode): Reference | undefined {
  const path: PathStep[] = [];
  let at = node;
  for (let access = accessParts(at); access; access = accessParts(at)) {
    if (access.key === undefined) return undefined;
    path.unshift(access.key);
    at = access.from;
  }
  if (at.op !== 'id') return undefined;
  if (at.args === 'item' || at.args === 'run' || at.args === 'vars') return { source: at.args, path };
  if (at.args === 'previous') {
    const [key = 'data_content', ...below] = path;
    const member = NODE_MEMBERS.find((name) => name === key);
    return member && { source: 'previous', member, path: below };
  }
  const [id, key, ...rest] = path;
  const member = NODE_MEMBERS.find((name) => name === (key ?? 'data_content'));
  if (at.args !== 'nodes' || typeof id !== 'string' || !member) return undefined;
  return { source: 'node', node: id, member, path: rest };
}
