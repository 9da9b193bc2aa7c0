/** n8n's expressions: texts that begin with `=` and have JavaScript between `{{` and `}}`. Pure. */
import { Script } from 'node:vm';

/** A member of an object by its name, or an element of a list by its position. */
export type PathStep = string | number;

export type Part = { text: string } | { code: string };

/** A member of an item: of the current one, or of that of another node. */
export type Access = { node: string | undefined; path: PathStep[] };

/** Whether a value of a parameter is an expression. */
export const isExpression = (value: unknown): value is string =>
  typeof value === 'string' && value.startsWith('=');

/** Whether the text can be compiled as an expression of JavaScript. It is never executed. */
export function isJavaScript(code: string): boolean {
  return compiles(`(async function () { 'use strict'; return (${code}\n); })`);
}

/** Whether the text can be compiled as the body of a function. It is never executed. */
export function isBody(code: string): boolean {
  return compiles(`(async function () { 'use strict';\n${code}\n})`);
}

function compiles(source: string): boolean {
  try {
    void new Script(source);
    return true;
  } catch {
    return false;
  }
}

/**
 * The parts of an expression, without its `=`. A `}}` that ends no valid JavaScript is part of it, as in
 * `{{ {a: {b: 1}} }}`.
 */
export function partsOf(expression: string): Part[] {
  const text = expression.slice(1);
  const parts: Part[] = [];
  let at = 0;
  while (at < text.length) {
    const open = text.indexOf('{{', at);
    const end = open === -1 ? -1 : closeOf(text, open + 2);
    if (end === -1) break;
    if (open > at) parts.push({ text: text.slice(at, open) });
    parts.push({ code: text.slice(open + 2, end).trim() });
    at = end + 2;
  }
  if (at < text.length) parts.push({ text: text.slice(at) });
  return parts;
}

const CLOSES_TRIED = 8;

function closeOf(text: string, from: number): number {
  const first = text.indexOf('}}', from);
  let close = first;
  for (let tried = 0; close !== -1 && tried < CLOSES_TRIED; tried += 1) {
    // Of three braces the last two may close.
    for (const end of text[close + 2] === '}' ? [close, close + 1] : [close])
      if (isJavaScript(text.slice(from, end))) return end;
    close = text.indexOf('}}', close + 1);
  }
  return first;
}

const QUOTED = String.raw`(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|\x60((?:[^\x60\\$]|\\.)*)\x60)`;
const CURRENT = /^\$json\b|^\$input\.(?:item|first\(\))\.json\b|^\$data\b/;
const OTHER = new RegExp(
  String.raw`^(?:\$\(\s*${QUOTED}\s*\)(?:\.item|\.first\(\)|\.last\(\)|\.all\(\)\[0\])\.json|\$node\[\s*${QUOTED}\s*\]\.(?:json|data)|\$items\(\s*${QUOTED}\s*\)\[0\]\.json)(?![\w$])`,
);
const STEP = new RegExp(
  String.raw`^\s*(?:\?\.|\.)\s*([A-Za-z_$][\w$]*)|^\s*(?:\?\.)?\[\s*(?:(\d{1,9})|${QUOTED})\s*\]`,
);

const unquoted = (texts: readonly (string | undefined)[]): string | undefined =>
  texts.find((text) => text !== undefined)?.replaceAll(/\\(.)/g, '$1');

/** The member that the code reads, if that is all that it does: `$json.a[0]`, `$('A').item.json.b`. */
export function accessOf(code: string): Access | undefined {
  const trimmed = code.trim();
  const other = OTHER.exec(trimmed);
  const head = other ?? CURRENT.exec(trimmed);
  if (!head) return undefined;
  const node = other ? unquoted(other.slice(1)) : undefined;
  const path = pathOf(trimmed.slice(head[0].length));
  return path && { node, path };
}

function pathOf(text: string): PathStep[] | undefined {
  const path: PathStep[] = [];
  let rest = text;
  while (rest.trim() !== '') {
    const step = STEP.exec(rest);
    if (!step) return undefined;
    const [whole, dotted, index, ...quoted] = step;
    path.push(index === undefined ? (dotted ?? unquoted(quoted) ?? '') : Number(index));
    rest = rest.slice(whole.length);
  }
  // A call, or a member that only JavaScript has.
  return path.includes('length') ? undefined : path;
}

const NAMED = new RegExp(String.raw`\$(?:\(|node\[|items\()\s*${QUOTED}|\$node\.([A-Za-z_$][\w$]*)`, 'g');

/** The names of the nodes that the code reads. */
export function namedNodes(code: string): string[] {
  return [...new Set([...code.matchAll(NAMED)].flatMap((match) => unquoted(match.slice(1)) ?? []))];
}

/** Names that n8n offers to expressions and that have no counterpart. */
const UNSUPPORTED: readonly [RegExp, string][] = [
  [/\$binary\b/, '$binary'],
  [/getWorkflowStaticData|staticData\b/, 'static data'],
  [/\$jmespath|\$jmesPath/, '$jmespath'],
  [/\$secrets\b/, '$secrets'],
  [/\$evaluateExpression\b/, '$evaluateExpression'],
  [/\$execution\.(?:resumeUrl|resumeFormUrl|customData)\b/, '$execution.resumeUrl'],
  [/\$getPairedItem\b/, '$getPairedItem'],
  [/\.toLocaleString\(|\.toLocaleDateString\(|\.toLocaleTimeString\(|\bIntl\./, 'toLocaleString'],
  [/\.context\b\s*\[/, 'the context of a loop'],
  [
    /\$runIndex\b|\$items\([^,()]*,[^,()]*,|\.(?:all|first|last)\([^,()]+,[^()]+\)/,
    'the number of a run of a node',
  ],
];

/** The names in the code that have no counterpart. */
export const unsupportedIn = (code: string): string[] =>
  UNSUPPORTED.flatMap(([pattern, name]) => (pattern.test(code) ? [name] : []));
