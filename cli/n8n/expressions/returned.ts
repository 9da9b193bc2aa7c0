/** How many items code returns, where its text alone says so. Pure. */
import { codeOf } from '../../../nodes/code/source.ts';

const INPUT = String.raw`(?:items|\$input\.all\(\))`;
const SAME = new RegExp(`^${INPUT}\\s*;?\\s*$`);
const EACH = new RegExp(`^${INPUT}\\s*\\.map\\(`);
/** What can change the number or order of the items of the input. */
const CHANGES =
  /\b(?:items|all)\b(?:\(\))?\s*(?:=(?![=>])|\.(?:push|pop|shift|unshift|splice|sort|reverse|length\s*=))/;

/**
 * `one`: the body of a function returns exactly one item. `same`: an item for each of the input, in order.
 * Undefined: its text does not tell.
 */
export function itemsOf(source: string): 'one' | 'same' | undefined {
  const code = codeOf(source);
  const [at, ...more] = [...code.matchAll(/(?<![\w$.])return\b/g)].map(({ index }) => index);
  if (at === undefined) return undefined;
  const first = code.slice(at + 'return'.length).trim();
  // A return within the function that map is given does not end the code.
  if (EACH.test(first) && endOf(first, first.indexOf('(', first.search(/\.map\(/))) >= first.length - 2)
    return CHANGES.test(code.slice(0, at)) || pairs(code) ? undefined : 'same';
  if (more.length > 0 || depthAt(code, at) > 0) return undefined;
  if (SAME.test(first)) return CHANGES.test(code) || pairs(code) ? undefined : 'same';
  return isOneItem(first) ? 'one' : undefined;
}

const pairs = (code: string): boolean => /\bpairedItem\b/.test(code);

/** Whether the expression is an object, or a list with one object. */
function isOneItem(expression: string): boolean {
  const isList = expression.startsWith('[');
  const inner = isList ? expression.slice(1).trim() : expression;
  if (!inner.startsWith('{')) return false;
  const end = endOf(inner, 0);
  const after = inner.slice(end + 1).trim();
  return end > 0 && (isList ? /^,?\s*\]\s*;?$/ : /^;?$/).test(after);
}

const OPEN = '([{';
const CLOSE = ')]}';

/** The position of the bracket that closes the one at `start`; -1 without one. */
function endOf(code: string, start: number): number {
  let depth = 0;
  for (let at = start; at < code.length; at += 1) {
    if (OPEN.includes(code[at] ?? ' ')) depth += 1;
    else if (CLOSE.includes(code[at] ?? ' ')) depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}

function depthAt(code: string, end: number): number {
  let depth = 0;
  for (const character of code.slice(0, end))
    depth += OPEN.includes(character) ? 1 : CLOSE.includes(character) ? -1 : 0;
  return depth;
}
