/** Values of parameters: constants, expressions, and JavaScript that the import writes itself. Pure. */
import {
  type Access,
  type Part,
  type PathStep,
  accessOf,
  isExpression,
  isJavaScript,
  partsOf,
} from './expression.ts';
import { objectOf } from '../model/json.ts';

export type Value =
  | { kind: 'constant'; value: unknown }
  | { kind: 'text'; parts: Part[] }
  | { kind: 'object'; members: [string, Value][] }
  | { kind: 'list'; elements: Value[] }
  /** JavaScript that reads `$json`. */
  | { kind: 'code'; code: string };

export const constant = (value: unknown): Value => ({ kind: 'constant', value });
export const code = (text: string): Value => ({ kind: 'code', code: text });
export const objectValue = (members: Record<string, Value | undefined>): Value => ({
  kind: 'object',
  members: Object.entries(members).flatMap(([name, value]): [string, Value][] =>
    value ? [[name, value]] : [],
  ),
});

/** A value of a parameter as n8n stores it. */
export function valueOf(raw: unknown): Value {
  if (isExpression(raw)) return expressionValue(raw);
  if (Array.isArray(raw)) return { kind: 'list', elements: raw.map(valueOf) };
  if (typeof raw !== 'object' || raw === null) return constant(raw);
  return {
    kind: 'object',
    members: Object.entries(objectOf(raw)).map(([name, each]) => [name, valueOf(each)]),
  };
}

function expressionValue(text: string): Value {
  const parts = partsOf(text);
  const [first] = parts;
  if (!first) return constant('');
  if (parts.every((part) => 'text' in part)) return constant(text.slice(1));
  return { kind: 'text', parts };
}

/** A text that n8n evaluates, then parses as JSON. It is parsed here where that is safe. */
export function jsonValue(raw: unknown): Value {
  if (typeof raw !== 'string') return valueOf(raw);
  if (!isExpression(raw)) return parsed(raw) ?? code(`parseJson(${JSON.stringify(raw)})`);
  const parts = partsOf(raw);
  return templateOf(parts) ?? code(`parseJson(${toJavaScript({ kind: 'text', parts })})`);
}

function parsed(text: string): Value | undefined {
  try {
    return constant(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Texts that escape or write JSON themselves, which a value in its place would do once more. */
const ESCAPES = /stringify|toJsonString|replace|quote|escape|parseJson/i;
const MARK = '\u0001';

/** JSON with expressions in place of values and within texts; undefined where only evaluation tells. */
function templateOf(parts: readonly Part[]): Value | undefined {
  if (parts.length === 1 && parts[0] && 'code' in parts[0]) return undefined;
  if (parts.some((part) => 'code' in part && ESCAPES.test(part.code))) return undefined;
  let inText = false;
  const marked = parts.map((part, index) => {
    if ('code' in part) return inText ? `${MARK}${index}${MARK}` : `"${MARK}${index}${MARK}"`;
    for (const [character] of part.text.matchAll(/\\.|"/g)) if (character === '"') inText = !inText;
    return part.text;
  });
  try {
    return unmarked(JSON.parse(marked.join('').replaceAll(MARK, '\\u0001')), parts);
  } catch {
    return undefined;
  }
}

function unmarked(json: unknown, parts: readonly Part[]): Value {
  if (Array.isArray(json)) return { kind: 'list', elements: json.map((each) => unmarked(each, parts)) };
  if (typeof json === 'object' && json !== null)
    return {
      kind: 'object',
      members: Object.entries(json).map(([name, each]) => [name.replaceAll(MARK, ''), unmarked(each, parts)]),
    };
  if (typeof json !== 'string' || !json.includes(MARK)) return constant(json);
  const pieces = json
    .split(MARK)
    .map((piece, at): Part | undefined => (at % 2 === 1 ? parts[Number(piece)] : { text: piece }));
  return {
    kind: 'text',
    parts: pieces.flatMap((piece) => (!piece || ('text' in piece && piece.text === '') ? [] : [piece])),
  };
}

/** Whether nothing of the value is evaluated. */
export function isConstant(value: Value): boolean {
  if (value.kind === 'object') return value.members.every(([, each]) => isConstant(each));
  if (value.kind === 'list') return value.elements.every(isConstant);
  return value.kind === 'constant';
}

/** The texts of JavaScript in the value. */
export function codesOf(value: Value): string[] {
  if (value.kind === 'object') return value.members.flatMap(([, each]) => codesOf(each));
  if (value.kind === 'list') return value.elements.flatMap(codesOf);
  if (value.kind === 'code') return [value.code];
  return value.kind === 'text' ? value.parts.flatMap((part) => ('code' in part ? [part.code] : [])) : [];
}

/** JavaScript whose value is the value. A part that is no JavaScript is undefined, as in n8n. */
export function toJavaScript(value: Value): string {
  switch (value.kind) {
    case 'constant':
      return value.value === undefined ? 'undefined' : literal(value.value);
    case 'object':
      return `{ ${value.members.map(([name, each]) => `${keyOf(name)}: ${toJavaScript(each)}`).join(', ')} }`;
    case 'list':
      return `[${value.elements.map(toJavaScript).join(', ')}]`;
    case 'code':
      return value.code;
    case 'text':
      return textToJavaScript(value.parts);
  }
}

const literal = (value: unknown): string =>
  JSON.stringify(value).replaceAll('"__proto__":', '["__proto__"]:');
const keyOf = (name: string): string => (name === '__proto__' ? '["__proto__"]' : JSON.stringify(name));

function textToJavaScript(parts: readonly Part[]): string {
  const [first] = parts;
  if (parts.length === 1 && first && 'code' in first) return attempt(first.code);
  return parts
    .map((part) => ('text' in part ? JSON.stringify(part.text) : `text(${attempt(part.code)})`))
    .join(' + ');
}

/** In n8n an expression that fails is undefined. A plain access needs no guard. */
function attempt(text: string): string {
  const account = ACCOUNT.exec(text);
  if (account) return `vars.${account[1]}`;
  if (!isJavaScript(text)) return 'undefined';
  const access = accessOf(text);
  if (access && access.path.length < 2) return text;
  const ends = /\/\/[^\n]*$/.test(text) ? '\n' : '';
  return `attempt(() => (${text}${ends}))`;
}

/** How a member of an item is referenced, if it can be. */
export type Refer = (access: Access) => string | undefined;

const OTHERS: readonly [RegExp, string][] = [
  [/^\$now(?:\.toISO\(\))?$/, '$run.localTime'],
  [/^\$execution\.id$/, '$run.id'],
  [/^\$workflow\.(?:name|id)$/, '$run.workflow'],
];
/** A value of an account, which the project must have as a variable. */
const ACCOUNT = /^\$account\.(\w+)$/;
const VARIABLE = /^\$(?:vars|env)\.([A-Za-z_][\w]*)$/;

/** The value with references in place of its expressions; undefined if one of them needs code. */
export function toReferences(value: Value, refer: Refer): { value: unknown } | undefined {
  switch (value.kind) {
    case 'constant':
      return { value: escaped(value.value) };
    case 'code':
      return undefined;
    case 'list': {
      const elements = value.elements.map((each) => toReferences(each, refer));
      return elements.includes(undefined) ? undefined : { value: elements.map((each) => each?.value) };
    }
    case 'object': {
      const members = value.members.map(([name, each]) => [name, toReferences(each, refer)] as const);
      if (members.some(([, each]) => each === undefined)) return undefined;
      return { value: Object.fromEntries(members.map(([name, each]) => [name, each?.value])) };
    }
    case 'text': {
      const texts = value.parts.map((part) =>
        'text' in part ? escapedText(part.text) : reference(part.code, refer),
      );
      return texts.includes(undefined) ? undefined : { value: texts.join('') };
    }
  }
}

function reference(text: string, refer: Refer): string | undefined {
  const account = ACCOUNT.exec(text);
  if (account) return `{{ $vars.${account[1]} }}`;
  const access = accessOf(text);
  const variable = VARIABLE.exec(text);
  const found = access
    ? refer(access)
    : variable
      ? `$vars.${variable[1]} ?? ''`
      : OTHERS.find(([pattern]) => pattern.test(text))?.[1];
  return found === undefined ? undefined : `{{ ${found} }}`;
}

/** Two braces that n8n does not evaluate stay text. */
const escapedText = (text: string): string => text.replaceAll('{{', "{{ '{{' }}");

function escaped(value: unknown): unknown {
  if (typeof value === 'string') return escapedText(value);
  if (Array.isArray(value)) return value.map(escaped);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, escaped(each)]));
}

const NAME = /^[A-Za-z_][\w]*$/;

/** A path as references write it. */
export function printPath(base: string, path: readonly PathStep[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return NAME.test(step) ? `${text}.${step}` : `${text}['${step.replaceAll(/[\\']/g, '\\$&')}']`;
  }, base);
}
