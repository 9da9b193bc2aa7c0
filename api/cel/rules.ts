/**
 * Static rules of expressions: only functions of CEL that take bounded time, only names that exist, and only
 * literal node IDs, so that the required outputs are known before evaluation.
 */
import { ExpressionError, positionAt } from '../expression/errors.ts';
import { NODE_MEMBERS, RUN_MEMBERS } from '../expression/reference.ts';
import { insteadOf, isBareText, quotesNeeded } from './habits.ts';
import { METHOD_NAMES, NAMESPACES } from './library.ts';
import { LOOP_NAMES, loopVariableCount } from './loops.ts';
import { accessParts, callParts, operands, type SyntaxNode } from './syntax.ts';

const FUNCTIONS = new Set('has size type dyn int double string bool bytes timestamp duration'.split(' '));
const LOOPS = ['all', 'exists', 'exists_one', 'filter', 'map', ...LOOP_NAMES];
const OF_TEXTS =
  'contains startsWith endsWith indexOf lastIndexOf substring split join lowerAscii upperAscii trim'.split(
    ' ',
  );
const OF_DATES = ['getFullYear', 'getMonth', 'getDate', 'getDayOfMonth', 'getDayOfWeek'];
const OF_TIMES = ['getHours', 'getMinutes', 'getSeconds', 'getMilliseconds'];
const OF_OPTIONALS = ['orValue', 'or', 'hasValue', 'value'];
const METHODS = new Set([
  'size',
  ...LOOPS,
  ...OF_TEXTS,
  ...METHOD_NAMES,
  ...OF_DATES,
  ...OF_TIMES,
  ...OF_OPTIONALS,
]);
const TYPE_NAMES = ['int', 'double', 'string', 'bool', 'bytes', 'list', 'map', 'null_type'];

/** The data that an expression reads. */
export type Names = {
  /** The IDs of the nodes, without duplicates. */
  readonly nodes: readonly string[];
  /** Whether it reads the output of the node before. */
  readonly previous: boolean;
  /** Whether it reads `run`. */
  readonly run: boolean;
  /** The names of the variables. */
  readonly variables: readonly string[];
  /** Those of them that must exist: not tested with has(), and not read with `.?`. */
  readonly requiredVariables: readonly string[];
};

type Found = {
  nodes: Set<string>;
  previous: boolean;
  run: boolean;
  required: Set<string>;
  optional: Set<string>;
};

/**
 * The data that the expression reads. `members`: those that nodes have.
 * @throws ExpressionError `Syntax` for an unknown name or an unsupported function
 */
export function checkRules(
  source: string,
  root: SyntaxNode,
  scopeNames: readonly string[],
  members: readonly string[] = NODE_MEMBERS,
): Names {
  const found: Found = {
    nodes: new Set(),
    previous: false,
    run: false,
    required: new Set(),
    optional: new Set(),
  };
  const check = ({ node, names, isTested }: Part): void => {
    const refuse: Refuse = (message, name) =>
      new ExpressionError('Syntax', message, { position: positionAt(source, placeOf(source, node, name)) });
    const id = nodeAccess(node, members, refuse);
    if (id !== undefined) return void found.nodes.add(id);
    if (contextAccess({ node, names, isTested }, found, refuse)) return;
    if (node.op === 'id') checkName(node, names, refuse, source);
    for (const part of partsOf({ node, names, isTested }, scopeNames, refuse)) check(part);
  };
  check({ node: root, names: new Set([...TYPE_NAMES, ...scopeNames]), isTested: false });
  const { nodes, previous, run, required, optional } = found;
  return {
    nodes: [...nodes],
    previous,
    run,
    variables: [...new Set([...required, ...optional])],
    requiredVariables: [...required].filter((name) => !optional.has(name)),
  };
}

/** A node to check, the names that exist there, and whether it stands in has(). */
type Part = { node: SyntaxNode; names: ReadonlySet<string>; isTested: boolean };

/** The operands to check. Checks the function, if the node is a call. */
function partsOf({ node, names, isTested }: Part, scopeNames: readonly string[], refuse: Refuse): Part[] {
  const call = callParts(node);
  if (!call) return operands(node).map((part) => ({ node: part, names, isTested }));
  const namespace = call.receiver ? namespaceOf(node, names) : undefined;
  checkFunction(call.name, call.receiver, namespace, refuse);
  const parts = operands(node).slice(namespace === undefined ? 0 : 1);
  const first = namespace === undefined ? 1 : 0;
  const count = variableCount(call.name, namespace, parts.length - 1);
  const bound = parts.slice(first, first + count).map((part) => loopVariable(part, scopeNames, refuse));
  const inside = new Set([...names, ...bound]);
  const tests = isTested || (call.name === 'has' && !call.receiver);
  return parts
    .map((part, index) => ({ node: part, names: index < first ? names : inside, isTested: tests }))
    .filter((_, index) => index < first || index >= first + count);
}

/**
 * Whether the node is `previous`, `run`, `vars` or a member of one of them, as far as no part of it is left
 * to check.
 */
function contextAccess({ node, names, isTested }: Part, found: Found, refuse: Refuse): boolean {
  const access = accessParts(node);
  const root = access?.from ?? node;
  if (root.op !== 'id' || typeof root.args !== 'string' || names.has(root.args)) return false;
  if (root.args === 'vars') {
    const isOptional = isTested || access?.optional === true;
    (isOptional ? found.optional : found.required).add(variableName(access?.key, refuse));
    return true;
  }
  if (root.args !== 'previous' && root.args !== 'run') return false;
  found[root.args] = true;
  if (access) checkMember(root.args, access.key, refuse);
  return true;
}

/** Names of variables must be literals, so that missing ones are known before evaluation. */
function variableName(key: string | number | undefined, refuse: Refuse): string {
  if (typeof key === 'string') return key;
  throw refuse("write vars.<name> with the name of a variable, for example vars.url or vars['limits.json']");
}

function checkMember(root: 'previous' | 'run', key: string | number | undefined, refuse: Refuse): void {
  const members: readonly string[] = root === 'run' ? RUN_MEMBERS : NODE_MEMBERS;
  if (typeof key === 'string' && members.includes(key)) return;
  throw refuse(`after ${root} use one of .${members.join(', .')}`, typeof key === 'string' ? key : undefined);
}

/** The namespace in `math.round(x)`. A loop variable of its name hides it. */
function namespaceOf(node: SyntaxNode, names: ReadonlySet<string>): string | undefined {
  const [first] = operands(node);
  if (first?.op !== 'id' || typeof first.args !== 'string' || names.has(first.args)) return undefined;
  return Object.hasOwn(NAMESPACES, first.args) ? first.args : undefined;
}

/** How many of the arguments of a call are names of variables. */
function variableCount(name: string, namespace: string | undefined, size: number): number {
  if (namespace !== undefined) return namespace === 'cel' ? 1 : 0;
  return LOOPS.includes(name) ? loopVariableCount(name, size) : 0;
}

/** `name`: the wrong function or member, which comes after the first operand of the node. */
type Refuse = (message: string, name?: string) => ExpressionError;

function placeOf(source: string, node: SyntaxNode, name: string | undefined): number {
  const [first] = operands(node);
  const offset = name === undefined || !first ? -1 : source.indexOf(name, first.end);
  return offset === -1 || offset >= node.end ? node.start : offset;
}

/** The ID of the node in `nodes.<id>` or `nodes.<id>.<member>`. Throws if the member does not exist. */
function nodeAccess(node: SyntaxNode, members: readonly string[], refuse: Refuse): string | undefined {
  if (isNodes(node))
    throw refuse('write nodes.<id> with the ID of a node, for example nodes.trigger.data_content');
  const access = accessParts(node);
  if (!access) return undefined;
  if (isNodes(access.from)) return literalId(access.key, refuse);
  const outer = accessParts(access.from);
  if (!outer || !isNodes(outer.from)) return undefined;
  if (access.key === undefined || !members.some((member) => member === access.key)) {
    throw refuse(
      `after nodes.<id> use one of .${members.join(', .')}`,
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
  if (node.args === 'item' || node.args === 'index') {
    throw refuse(
      `unknown name '${node.args}'; it exists in a node with forEach and in the body of such a group; on an edge write nodes.<ID of the group>.${node.args}`,
    );
  }
  const hint = isBareText(source) ? `; ${quotesNeeded(source)}` : '';
  throw refuse(
    `unknown name '${String(node.args)}'; for node data write nodes.<id>.text_content or nodes.<id>.data_content${hint}`,
  );
}

function checkFunction(name: string, receiver: boolean, namespace: string | undefined, refuse: Refuse): void {
  const offered = namespace === undefined ? (receiver ? METHODS : FUNCTIONS) : new Set(NAMESPACES[namespace]);
  if (offered.has(name)) return;
  const written = namespace === undefined ? name : `${namespace}.${name}`;
  throw refuse(
    `${written}() is not supported: ${remedyOf(name, namespace, offered)}`,
    receiver ? name : undefined,
  );
}

function remedyOf(name: string, namespace: string | undefined, offered: ReadonlySet<string>): string {
  const instead = namespace === undefined ? insteadOf(name) : undefined;
  if (instead !== undefined) return `write ${instead}`;
  if (offered === FUNCTIONS && METHODS.has(name)) return `write value.${name}(…)`;
  if (offered === METHODS && FUNCTIONS.has(name)) return `write ${name}(value)`;
  return `use one of ${[...offered].join(', ')}`;
}

function loopVariable(variable: SyntaxNode | undefined, taken: readonly string[], refuse: Refuse): string {
  const name = typeof variable?.args === 'string' ? variable.args : '';
  if (!taken.includes(name)) return name;
  throw refuse(`'${name}' is a reserved name: rename the loop variable`);
}
