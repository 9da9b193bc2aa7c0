/** Conditions as labels of the canvas, which have little space. Pure. */
import { OPERATOR_NAMES, printCondition, signAfterTest } from './rows.ts';

const TEXT = String.raw`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`;

/** Texts, which stay as they are, and doubles that are whole numbers. */
const WHOLE_DOUBLE = new RegExp(String.raw`${TEXT}|(?<![\w.])(\d+)\.0\b(?!\.)`, 'g');

/** Texts, and the mark of a step that need not exist. */
const OPTIONAL = new RegExp(String.raw`${TEXT}|(?<=[.[])\?`, 'g');

/** The longest beginning of a condition that is read: no label has space for more. */
const LONGEST_CONDITION = 500;

/** Texts, and tests whether a field exists, with what joins them to the next condition. */
const TEST = new RegExp(
  String.raw`${TEXT}|(\(?)(!?)(?:has\(([\w.?]+)\)|([\w.?]+(?:\[\?(?:\d+|${TEXT})\][\w.?]*)*)\.hasValue\(\)) (&&|\|\|) `,
  'g',
);

const LITERAL = new RegExp(String.raw`^(?:${TEXT}|-?\d[\d.]*(?:e[+-]?\d+)?)`, 'i');

/**
 * The condition of an edge without what a label has no space for: the way to the values, the tests of their
 * rows whether they exist, and the `.0` of doubles, which fields do not show either.
 */
export function shortCondition(from: string, when: string): string {
  // A draft may have any text, and what follows takes time with the square of its length.
  if (when.length > LONGEST_CONDITION) return `${shortCondition(from, when.slice(0, LONGEST_CONDITION))}…`;
  return withoutMarks(withoutTests(when))
    .replaceAll(`nodes.${from}.data_content.`, '')
    .replaceAll(/\bnodes\.(\w+)\.data_content\./g, '$1.')
    .replaceAll(/\bnodes\.\w+\.(?=(?:item|index)\b)/g, '')
    .replaceAll(WHOLE_DOUBLE, (text: string, whole?: string) => whole ?? text);
}

/**
 * The condition without the tests that are part of rows, and without the brackets around both. Tests that
 * are rows of their own stay.
 */
function withoutTests(when: string): string {
  let shown = '';
  let at = 0;
  for (const { 0: test, 1: open = '', 2: not, 3: name, 4: path, 5: sign, index } of when.matchAll(TEST)) {
    const field = name ?? path;
    if (index < at || field === undefined || (sign === '||') !== (not === '!')) continue;
    const start = index + test.length;
    const tested = conditionIn(when.slice(start), withoutMarks(field), sign);
    if (tested === undefined) continue;
    const end = start + tested.length;
    const first = index + open.length;
    if (sign === '||' && isOperandOfAnd(when, first, end)) continue;
    const isBracketed = open !== '' && when[end] === ')' && CHAIN.test(when.slice(0, index));
    shown += when.slice(at, isBracketed ? index : first) + tested;
    at = isBracketed ? end + 1 : end;
  }
  return shown + when.slice(at);
}

/** Where a bracket may begin that is neither negated nor that of a call. */
const CHAIN = /(?:^|&& |\|\| |\()$/;

/** Whether `&&`, which binds more tightly than `||`, takes an end of this part. */
function isOperandOfAnd(when: string, start: number, end: number): boolean {
  return when.slice(0, start).endsWith('&& ') || when.startsWith(' &&', end);
}

/** The path without the marks of steps that need not exist. */
function withoutMarks(condition: string): string {
  return condition.replaceAll(OPTIONAL, (text) => (text === '?' ? '' : text));
}

/** The condition of the field with which the text begins, if its row is written with a test and this sign. */
function conditionIn(text: string, field: string, sign: string | undefined): string | undefined {
  return OPERATOR_NAMES.filter((name) => signAfterTest(name) === sign)
    .map((name) => beginningWith(text, printCondition(name, field, VALUE)))
    .find((condition) => condition !== undefined && ENDS.test(text.slice(condition.length)));
}

/** Stands for any value. No field has it in its name. */
const VALUE = '\n';

/** What follows the whole condition of a row. */
const ENDS = /^(?:$|\)| && | \|\| )/;

/** The beginning of the text that has this form; undefined: it begins otherwise. */
function beginningWith(text: string, form: string): string | undefined {
  const [before = '', after] = form.split(VALUE, 2);
  if (!text.startsWith(before)) return undefined;
  if (after === undefined) return before;
  const [literal] = LITERAL.exec(text.slice(before.length)) ?? [];
  const isWhole = literal !== undefined && text.startsWith(after, before.length + literal.length);
  return isWhole ? `${before}${literal}${after}` : undefined;
}
