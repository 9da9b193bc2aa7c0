/**
 * Rule for the values of a row. Guarantees that the value of a reference does not become a formula, and does
 * not leave its place in one, also where Google parses texts as if a person typed them.
 */
import { toText } from '../../../api/expression/evaluate.ts';
import { plainOf, type Given, type SourcedValue } from '../../../api/expression/sourced.ts';
import { StepError } from '../../../api/reasons.ts';
import type { ParameterRule } from '../../contract/skill.ts';

/** What spreadsheets may take for the beginning of a formula, in the width of East Asian keyboards, too. */
const FORMULA = /^[\s\p{C}]*[=+\-@\uff1d\uff0b\uff0d\uff20]/u;
const NUMBER = /^[+-]?\d+(?:[.,]\d+)*%?$/;
/** Neither calls a function nor ends a text, names no other sheet and adds no argument. */
const WITHIN_FORMULA = /^[\p{L}\p{N} _.-]*$/u;

/** The rule for the parameter `values`. */
export const rowValues: ParameterRule = {
  compose: (given, { input }) => (input === 'UserEntered' ? typed(given) : plainOf(given)),
};

/** Values by heading, or in a list. */
function typed(given: SourcedValue): unknown {
  switch (given.kind) {
    case 'reference':
      return cellsOf(given.value);
    case 'list':
      return given.items.map(cellOf);
    case 'object':
      return Object.fromEntries(given.entries.map(([name, value]) => [name, cellOf(value)]));
    case 'literal':
    case 'text':
      return plainOf(given);
  }
}

function cellsOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asText);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, asText(each)]));
}

/** Lists and objects are written as JSON, which is no formula. */
function cellOf(given: SourcedValue): unknown {
  if (given.kind === 'reference') return asText(given.value);
  if (given.kind !== 'text') return plainOf(given);
  const [first] = given.parts;
  if (typeof first === 'string' && FORMULA.test(first))
    return given.parts.map((part) => (typeof part === 'string' ? part : withinFormula(part))).join('');
  return asText(plainOf(given));
}

/** An apostrophe before a text keeps it a text; it is not stored. */
function asText(value: unknown): unknown {
  if (typeof value !== 'string' || !FORMULA.test(value) || NUMBER.test(value)) return value;
  return `'${value}`;
}

function withinFormula({ reference, value }: Given): string {
  const text = toText(value);
  if (WITHIN_FORMULA.test(text)) return text;
  throw new StepError(
    'InvalidParameters',
    `${reference} stands in a formula and gave more than letters, digits, spaces, _, . and -: write it into a cell of its own`,
  );
}
