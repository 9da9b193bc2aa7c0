/**
 * The syntax tree of cel-js as this folder uses it. The package types the nodes of source text, but not those
 * that macros (`all`, `map`, …) expand to, and loops are where the time goes. Tests compare this module with
 * the pinned version.
 */

/**
 * A node of the tree. The evaluator calls `evaluate` for the node, and `handle` with the values of its
 * operands. The package replaces `evaluate` on the first call.
 */
export type SyntaxNode = {
  readonly op: string;
  readonly args: unknown;
  readonly start: number;
  readonly end: number;
  readonly meta: { alternate?: unknown; macro?: unknown };
  handle?: (...operands: unknown[]) => unknown;
  evaluate: (...context: unknown[]) => unknown;
};

/** The expansion of a macro: a loop over `iterable` that evaluates `step` for each element. */
export type LoopParts = { iterable: SyntaxNode; init: SyntaxNode; step: SyntaxNode };

export function isSyntaxNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'meta' in value && 'start' in value;
}

/** The node that is evaluated in place of this one. */
export function evaluated(node: SyntaxNode): SyntaxNode {
  return isSyntaxNode(node.meta.alternate) ? node.meta.alternate : node;
}

/** The operands of a node in the source: for a macro its receiver and arguments. */
export function operands(node: SyntaxNode): SyntaxNode[] {
  return nodesIn(node.args);
}

/** The loop that a macro expands to. */
export function loopParts(node: SyntaxNode): LoopParts | undefined {
  const { args } = node;
  if (node.op !== 'comprehension' || typeof args !== 'object' || args === null) return undefined;
  if (!('iterable' in args && 'init' in args && 'step' in args)) return undefined;
  const { iterable, init, step } = args;
  return isSyntaxNode(iterable) && isSyntaxNode(init) && isSyntaxNode(step)
    ? { iterable, init, step }
    : undefined;
}

/**
 * A loop of `loops.ts`, which evaluates `bodies` for each element of `receiver`. `spend` charges the budget
 * for this number of elements.
 */
export type MacroLoop = {
  readonly receiver: SyntaxNode;
  readonly variables: readonly string[];
  readonly bodies: readonly SyntaxNode[];
  spend: (elements: number) => void;
};

export function macroLoopOf(node: SyntaxNode): MacroLoop | undefined {
  const { macro } = node.meta;
  return typeof macro === 'object' && macro !== null && 'bodies' in macro && 'spend' in macro
    ? (macro as MacroLoop)
    : undefined;
}

/** The name of the called function. If `receiver`, the first operand is the receiver. */
export function callParts(node: SyntaxNode): { name: string; receiver: boolean } | undefined {
  if ((node.op !== 'call' && node.op !== 'rcall') || !Array.isArray(node.args)) return undefined;
  const [name]: unknown[] = node.args;
  return typeof name === 'string' ? { name, receiver: node.op === 'rcall' } : undefined;
}

const ACCESS_OPTIONAL: Partial<Record<string, boolean>> = {
  '.': false,
  '[]': false,
  '.?': true,
  '[?]': true,
};

/**
 * The object and the key of `a.b`, `a['b']`, `a[0]`, or optional as `a.?b`; the key is undefined if it is
 * computed.
 */
export function accessParts(
  node: SyntaxNode,
): { from: SyntaxNode; key: string | number | undefined; optional: boolean } | undefined {
  const optional = ACCESS_OPTIONAL[node.op];
  if (optional === undefined || !Array.isArray(node.args)) return undefined;
  const [from, key]: unknown[] = node.args;
  if (!isSyntaxNode(from)) return undefined;
  return { from, optional, key: typeof key === 'string' ? key : literalKey(key) };
}

function literalKey(key: unknown): string | number | undefined {
  if (!isSyntaxNode(key) || key.op !== 'value') return undefined;
  if (typeof key.args === 'bigint') return Number(key.args);
  return typeof key.args === 'string' ? key.args : undefined;
}

function nodesIn(value: unknown): SyntaxNode[] {
  if (isSyntaxNode(value)) return [value];
  return Array.isArray(value) ? value.flatMap(nodesIn) : [];
}
