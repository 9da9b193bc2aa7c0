/**
 * Static rules of expressions: only functions of CEL that take bounded time, only names that exist, and only
 * literal node IDs, so that the required outputs are known before evaluation.
 */
import { ExpressionError, positionAt } from '../expression/errors.ts';
import { NODE_MEMBERS } from '../expression/reference.ts';
import { isBareText, QUOTES_NEEDED } from './habits.ts';
import { accessParts, callParts, operands, type SyntaxNode } from './syntax.ts';

/** Without `matches`: cel-js passes the pattern to RegExp, which can take exponential time. */
const FUNCTIONS = new Set([
  'has',
  'size',
  'type',
  'dyn',
  'int',
  'double',
  'string',
  'bool',
  'timestamp',
  'duration',
]);
const LOOPS = ['all', 'exists', 'exists_one', 'filter', 'map'];
const OF_TEXTS = [
  'contains',
  'startsWith',
  'endsWith',
  'indexOf',
  'lastIndexOf',
  'substring',
  'split',
  'join',
];
const OF_CASE = ['lowerAscii', 'upperAscii', 'trim'];
const OF_DATES = ['getFullYear', 'getMonth', 'getDate', 'getDayOfMonth', 'getDayOfWeek'];
const OF_TIMES = ['getHours', 'getMinutes', 'getSeconds', 'getMilliseconds'];
const METHODS = new Set(['size', ...LOOPS, ...OF_TEXTS, ...OF_CASE, ...OF_DATES, ...OF_TIMES]);
const TYPE_NAMES = ['int', 'double', 'string', 'bool', 'list', 'map', 'null_type'];

/**
 * The IDs of the nodes that the expression references, without duplicates.
 * @throws ExpressionError `Syntax` for an unknown name or an unsupported function
 */
export function checkRules(source: string, root: SyntaxNode, scopeNames: readonly string[]): string[] {
  const nodes = new Set<string>();
  const check = (node: SyntaxNode, names: ReadonlySet<string>): void => {
    const refuse: Refuse = (message, name) =>
      new ExpressionError('Syntax', message, { position: positionAt(source, placeOf(source, node, name)) });
    const id = nodeAccess(node, refuse);
    if (id !== undefined) {
      nodes.add(id);
      return;
    }
    if (node.op === 'id') checkName(node, names, refuse, source);
    const call = callParts(node);
    if (call) checkFunction(call.name, call.receiver, refuse);
    const parts = operands(node);
    if (!call?.receiver || !LOOPS.includes(call.name)) {
      for (const part of parts) check(part, names);
      return;
    }
    const [list, variable, ...body] = parts;
    if (list) check(list, names);
    const inside = new Set([...names, loopVariable(variable, scopeNames, refuse)]);
    for (const part of body) check(part, inside);
  };
  check(root, new Set([...TYPE_NAMES, ...scopeNames]));
  return [...nodes];
}

/** `name`: the wrong function or member, which comes after the first operand of the node. */
type Refuse = (message: string, name?: string) => ExpressionError;

function placeOf(source: string, node: SyntaxNode, name: string | undefined): number {
  const [first] = operands(node);
  const offset = name === undefined || !first ? -1 : source.indexOf(name, first.end);
  return offset === -1 || offset >= node.end ? node.start : offset;
}

/** The ID of the node in `nodes.<id>` or `nodes.<id>.<member>`. Throws if the member does not exist. */
function nodeAccess(node: SyntaxNode, refuse: Refuse): string | undefined {
  if (isNodes(node))
    throw refuse('write nodes.<id> with the ID of a node, for example nodes.trigger.data_content');
  const access = accessParts(node);
  if (!access) return undefined;
  if (isNodes(access.from)) return literalId(access.key, refuse);
  const outer = accessParts(access.from);
  if (!outer || !isNodes(outer.from)) return undefined;
  if (access.key === undefined || !NODE_MEMBERS.some((member) => member === access.key)) {
    throw refuse(
      `after nodes.<id> use one of .${NODE_MEMBERS.join(', .')}`,
      typeof access.key === 'string' ? access.key : undefined,
    );
  }
  return literalId(outer.key, refuse);
}

function isNodes(node: SyntaxNode): boolean {
  return node.op === 'id' && node.args === 'nodes';
}

function literalId(key: string | number | undefined, refuse: Refuse): string {
  if (typeof key === 'string') return key;
  throw refuse('the ID after nodes must be a literal: it cannot be computed');
}

function checkName(node: SyntaxNode, names: ReadonlySet<string>, refuse: Refuse, source: string): void {
  if (typeof node.args === 'string' && names.has(node.args)) return;
  const hint = isBareText(source) ? `; ${QUOTES_NEEDED}` : '';
  throw refuse(
    `unknown name '${String(node.args)}'; for node data write nodes.<id>.text_content or nodes.<id>.data_content${hint}`,
  );
}

function checkFunction(name: string, receiver: boolean, refuse: Refuse): void {
  const offered = receiver ? METHODS : FUNCTIONS;
  if (offered.has(name)) return;
  const instead =
    name === 'matches' ? 'patterns can take unbounded time; use contains, startsWith, endsWith or split' : '';
  const message = `${name}() is not supported: ${instead || `use one of ${[...offered].join(', ')}`}`;
  throw refuse(message, receiver ? name : undefined);
}

function loopVariable(variable: SyntaxNode | undefined, taken: readonly string[], refuse: Refuse): string {
  const name = typeof variable?.args === 'string' ? variable.args : '';
  if (!taken.includes(name)) return name;
  throw refuse(`'${name}' is a reserved name: rename the loop variable`);
}
