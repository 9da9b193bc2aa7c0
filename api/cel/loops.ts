/**
 * Loops that cel-js lacks: `sortBy`, `groupBy`, and the two-variable comprehensions of cel-go. Guarantees:
 * each element is charged to the step budget before the body is evaluated for it. Like the loops of cel-js,
 * `all` and `exists` ignore the errors of elements that do not decide.
 */
import { type Environment, ParseError } from '@marcbachmann/cel-js';
import { ExpressionError } from '../expression/errors.ts';
import { compareValues, type Comparable } from './order.ts';
import { entriesOf, toObject } from './size.ts';
import type { MacroLoop, SyntaxNode } from './syntax.ts';

/** The parts of the engine's macro interface that loops use. */
type Context = {
  forkWithVariable(name: string, type: unknown): Context;
  reuse(parent: Context): Context;
  setIterValue(value: unknown, evaluator: Evaluator): Context;
};
type Checker = {
  check(node: SyntaxNode, context: Context): { kind: string; valueType: unknown };
  getType(name: string): unknown;
};
type Evaluator = { run(node: SyntaxNode, context: Context): unknown };
type Expansion = { args: readonly SyntaxNode[]; receiver: SyntaxNode };

/** Evaluates the loop: `entries` of the receiver, and the values of the bodies for one entry. */
type Loop = (
  entries: readonly (readonly [unknown, unknown])[],
  evaluate: (entry: readonly [unknown, unknown], body?: number) => unknown,
  spend: (elements: number) => void,
) => unknown;

type LoopDefinition = { variables: 1 | 2; bodies: 1 | 2; returns: string; loop: Loop };

/** The loops by name. A name with two definitions is chosen by the number of arguments. */
const DEFINITIONS: Record<string, readonly LoopDefinition[]> = {
  sortBy: [{ variables: 1, bodies: 1, returns: 'list<dyn>', loop: sortBy }],
  groupBy: [{ variables: 1, bodies: 1, returns: 'map<dyn, dyn>', loop: groupBy }],
  existsOne: [
    { variables: 1, bodies: 1, returns: 'bool', loop: existsOne },
    { variables: 2, bodies: 1, returns: 'bool', loop: existsOne },
  ],
  all: [{ variables: 2, bodies: 1, returns: 'bool', loop: quantify(false) }],
  exists: [{ variables: 2, bodies: 1, returns: 'bool', loop: quantify(true) }],
  transformList: [
    { variables: 2, bodies: 1, returns: 'list<dyn>', loop: transformList },
    { variables: 2, bodies: 2, returns: 'list<dyn>', loop: transformList },
  ],
  transformMap: [
    { variables: 2, bodies: 1, returns: 'map<dyn, dyn>', loop: transformMap },
    { variables: 2, bodies: 2, returns: 'map<dyn, dyn>', loop: transformMap },
  ],
  transformMapEntry: [
    { variables: 2, bodies: 1, returns: 'map<dyn, dyn>', loop: transformMapEntry },
    { variables: 2, bodies: 2, returns: 'map<dyn, dyn>', loop: transformMapEntry },
  ],
};

/** The names of the loops. */
export const LOOP_NAMES = Object.keys(DEFINITIONS);

/** How many of the first arguments of a loop are variables, if it has `size` arguments. */
export function loopVariableCount(name: string, size: number): 1 | 2 {
  const definitions = Object.hasOwn(DEFINITIONS, name) ? (DEFINITIONS[name] ?? []) : [];
  return definitions.find(({ variables, bodies }) => variables + bodies === size)?.variables ?? 1;
}

/** Adds the loops to an environment. */
export function registerLoops(environment: Environment): void {
  for (const [name, definitions] of Object.entries(DEFINITIONS)) {
    for (const definition of definitions) {
      const { variables, bodies, returns } = definition;
      const parameters = Array<string>(variables + bodies).fill('ast');
      environment.registerFunction(
        `list.${name}(${parameters.join(', ')}): ${returns}`,
        (expansion: unknown) => expand(name, definition, expansion as Expansion),
      );
    }
  }
}

function expand(name: string, definition: LoopDefinition, { args, receiver }: Expansion): MacroLoop & object {
  const variables = args.slice(0, definition.variables).map((node) => variableOf(name, node));
  const bodies = args.slice(definition.variables);
  let contexts: readonly Context[] = [];
  const macro: MacroLoop = { receiver, variables, bodies, spend: () => undefined };

  const typeCheck = (checker: Checker, _macro: unknown, context: Context): unknown => {
    const { kind, valueType } = checker.check(receiver, context);
    const types =
      variables.length === 1 && kind === 'list' ? [valueType] : variables.map(() => checker.getType('dyn'));
    contexts = [];
    let inner = context;
    for (const [index, variable] of variables.entries()) {
      inner = inner.forkWithVariable(variable, types[index]);
      contexts = [...contexts, inner];
    }
    for (const body of bodies) checker.check(body, inner);
    return checker.getType(definition.returns);
  };

  const evaluate = (evaluator: Evaluator, _macro: unknown, context: Context): unknown => {
    const value = evaluator.run(receiver, context);
    const entries = entriesOf(value);
    if (!entries || (variables.length === 1 && !Array.isArray(value)))
      throw new ExpressionError('Type', `${name}() can only be called on ${rangeOf(definition)}`);
    const inEntry = (entry: readonly [unknown, unknown], body = bodies.length - 1): unknown => {
      const values = variables.length === 1 ? [entry[1]] : entry;
      let inner = context;
      for (const [index, own] of contexts.entries())
        inner = own.reuse(inner).setIterValue(values[index], evaluator);
      const node = bodies[body];
      return node && evaluator.run(node, inner);
    };
    macro.spend(entries.length);
    const isFiltered = bodies.length === 2;
    const kept = isFiltered ? entries.filter((entry) => decided(name, inEntry(entry, 0))) : entries;
    return definition.loop(kept, inEntry, macro.spend);
  };

  return Object.assign(macro, { typeCheck, evaluate, async: false });
}

function rangeOf({ variables }: LoopDefinition): string {
  return variables === 1 ? 'a list' : 'a list or an object';
}

function variableOf(name: string, { op, args, start, end }: SyntaxNode): string {
  if (op === 'id' && typeof args === 'string') return args;
  throw new ParseError({
    code: 'invalid_macro_argument',
    message: `${name}() requires a name as its iteration variable`,
    range: { start, end },
  });
}

function decided(name: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw new ExpressionError('Type', `the condition in ${name}() must yield true or false`);
}

/** `exists` ends at the first true, `all` at the first false. */
function quantify(deciding: boolean): Loop {
  return (entries, evaluate) => {
    let failure: unknown;
    for (const entry of entries) {
      try {
        if (decided(deciding ? 'exists' : 'all', evaluate(entry)) === deciding) return deciding;
      } catch (error) {
        failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
    return !deciding;
  };
}

function existsOne(...[entries, evaluate]: Parameters<Loop>): boolean {
  return entries.filter((entry) => decided('existsOne', evaluate(entry))).length === 1;
}

function sortBy(...[entries, evaluate, spend]: Parameters<Loop>): unknown[] {
  const keyed = entries.map((entry) => ({ item: entry[1], key: evaluate(entry) as Comparable }));
  spend(entries.length * Math.log2(entries.length + 1));
  return keyed.toSorted((one, other) => compareValues(one.key, other.key)).map(({ item }) => item);
}

function groupBy(...[entries, evaluate]: Parameters<Loop>): unknown {
  const groups = new Map<string, unknown[]>();
  for (const entry of entries) {
    const key = keyOf('groupBy', evaluate(entry));
    const group = groups.get(key);
    if (group) group.push(entry[1]);
    else groups.set(key, [entry[1]]);
  }
  return toObject(groups);
}

function transformList(...[entries, evaluate]: Parameters<Loop>): unknown[] {
  return entries.map((entry) => evaluate(entry));
}

function transformMap(...[entries, evaluate]: Parameters<Loop>): unknown {
  return toObject(new Map(entries.map((entry) => [keyOf('transformMap', entry[0]), evaluate(entry)])));
}

function transformMapEntry(...[entries, evaluate, spend]: Parameters<Loop>): unknown {
  const result = new Map<string, unknown>();
  for (const entry of entries) {
    const value = evaluate(entry);
    const made = Array.isArray(value) ? undefined : entriesOf(value);
    if (!made) throw new ExpressionError('Type', 'transformMapEntry() must yield objects');
    spend(made.length);
    for (const [written, member] of made) {
      const key = keyOf('transformMapEntry', written);
      if (result.has(key))
        throw new ExpressionError('Type', 'transformMapEntry() yields the same key more than once');
      result.set(key, member);
    }
  }
  return toObject(result);
}

/** Keys are strings, as in JSON: numbers of data and literals then find the same member. */
function keyOf(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  const isKey = typeof value === 'bigint' || typeof value === 'boolean' || Number.isSafeInteger(value);
  if (isKey) return String(value);
  throw new ExpressionError('Type', `a key in ${name}() must be a string, an integer or a boolean`);
}
