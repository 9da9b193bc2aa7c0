/** Conditions of IF, Filter and Switch in all versions, as JavaScript that reads `$json`. */
import { type Json, listOf, memberOf, objectOf, textOf } from '../model/json.ts';
import { toJavaScript, valueOf } from '../expressions/value.ts';

const valueCode = (raw: unknown): string => toJavaScript(valueOf(raw));

/** Conditions with `combinator` and a list of `conditions` (version 2). */
function newConditions(given: Json, isInsensitive = false): string {
  const ignoreCase = isInsensitive || memberOf(given, 'options.caseSensitive') === false;
  const tests = listOf(given['conditions']).map((each) => {
    const { leftValue, rightValue, operator } = objectOf(each);
    const type = textOf(memberOf(operator, 'type'), 'string');
    const operation = textOf(memberOf(operator, 'operation'), 'equals');
    return testCode(type, operation, leftValue, rightValue, ignoreCase);
  });
  return combined(tests, given['combinator'] === 'or');
}

const testCode = (
  type: string,
  operation: string,
  left: unknown,
  right: unknown,
  ignoreCase = false,
): string =>
  `test(${JSON.stringify(type)}, ${JSON.stringify(operation)}, ${valueCode(left)}, ${valueCode(right)}${ignoreCase ? ', { ignoreCase: true }' : ''})`;

const combined = (tests: readonly string[], isAny: boolean): string =>
  tests.length === 0
    ? 'true'
    : tests.length === 1
      ? (tests[0] ?? 'true')
      : `(${tests.join(isAny ? ' || ' : ' && ')})`;

/** Conditions by type, each with `value1`, `operation` and `value2` (version 1). */
function oldConditions(given: Json, isAny: boolean): string {
  const defaults: Record<string, string> = {
    number: 'smaller',
    string: 'equal',
    boolean: 'equal',
    dateTime: 'after',
  };
  const tests = Object.entries(defaults).flatMap(([type, usual]) =>
    listOf(given[type]).map((each) => {
      const { value1, operation, value2 } = objectOf(each);
      const otherwise = type === 'boolean' ? true : '';
      return testCode(type, textOf(operation, usual), value1, value2 ?? otherwise);
    }),
  );
  return combined(tests, isAny);
}

/** The conditions of a node IF or Filter. */
export function conditionsOf(parameters: Json): string {
  const given = objectOf(parameters['conditions']);
  if (Array.isArray(given['conditions']))
    return newConditions(given, memberOf(parameters, 'options.ignoreCase') === true);
  return oldConditions(
    given,
    textOf(parameters['combineOperation'] ?? parameters['combineConditions'], 'all').toLowerCase() !==
      'all' && parameters['combineConditions'] !== 'AND',
  );
}

/** The conditions of a rule of a Switch (version 3). */
export const ruleConditions = (rule: unknown, isInsensitive: boolean): string =>
  newConditions(objectOf(memberOf(rule, 'conditions')), isInsensitive);

/** The comparison of a rule of a Switch (versions 1 and 2). */
export function oldRule(parameters: Json, rule: Json): string {
  const type = textOf(parameters['dataType'], 'number');
  return testCode(
    type,
    textOf(rule['operation'], 'equal'),
    parameters['value1'],
    rule['value2'] ?? (type === 'boolean' ? true : ''),
  );
}
