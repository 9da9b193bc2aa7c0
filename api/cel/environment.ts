/**
 * The CEL environments of conditions: cel-js with limits, the variables `nodes`, `previous`, `run` and `vars`
 * (with forEach also `item` and `index`), and mixed arithmetic. Every number of JSON is a double and every
 * literal such as `3` an int. Standard CEL compares the two but does not add them, so `count + 1` would fail
 * on JSON data.
 */
import { ExactNumber, nearestDouble, isSameNumber } from '../exact/exactNumber.ts';
import { EXACT_TYPE } from './explain.ts';
import { Environment } from '@marcbachmann/cel-js';
import { registerLibrary } from './library.ts';
import { registerLoops } from './loops.ts';
import { equalValues } from './order.ts';

/** Limits on the source. Lengths count UTF-16 units. */
export const CEL_LIMITS = { sourceLength: 4_096, astNodes: 500, depth: 32, literals: 100 } as const;

const BASE = new Environment({
  homogeneousAggregateLiterals: false,
  enableOptionalTypes: true,
  limits: {
    maxAstNodes: CEL_LIMITS.astNodes,
    maxDepth: CEL_LIMITS.depth,
    maxListElements: CEL_LIMITS.literals,
    maxMapEntries: CEL_LIMITS.literals,
    maxCallArguments: 4,
  },
})
  .registerVariable('nodes', 'map<string, dyn>')
  .registerVariable('previous', 'map<string, dyn>')
  .registerVariable('run', 'map<string, dyn>')
  .registerVariable('vars', 'map<string, dyn>');

const ARITHMETIC: Record<string, (left: number, right: number) => number> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
  '%': (left, right) => left % right,
};

for (const [operator, apply] of Object.entries(ARITHMETIC)) {
  const mixed = (left: number | bigint, right: number | bigint) => apply(Number(left), Number(right));
  BASE.registerOperator(`int ${operator} double: double`, mixed);
  BASE.registerOperator(`double ${operator} int: double`, mixed);
}
BASE.registerOperator('double % double: double', (left: number, right: number) => left % right);
BASE.registerOperator('int == double: bool', equalValues);

// Exact numbers can be compared with `==` and converted. Arithmetic would round them.
// Without fields, so that no expression reads the members of the class.
BASE.registerType(EXACT_TYPE, { ctor: ExactNumber, fields: {} });
BASE.registerFunction(`string(${EXACT_TYPE}): string`, (number: ExactNumber) => number.text);
BASE.registerFunction(`double(${EXACT_TYPE}): double`, nearestDouble);
BASE.registerOperator(`${EXACT_TYPE} == ${EXACT_TYPE}: bool`, isSameNumber);
BASE.registerOperator(`${EXACT_TYPE} == int: bool`, isSameNumber);
BASE.registerOperator(`${EXACT_TYPE} == double: bool`, isSameNumber);
registerLibrary(BASE);
registerLoops(BASE);

/** For conditions on edges. */
export const EDGE_ENVIRONMENT = BASE.clone();

/** For expressions of a node with forEach. */
export const FOR_EACH_ENVIRONMENT = BASE.clone()
  .registerVariable('item', 'dyn')
  .registerVariable('index', 'int');
