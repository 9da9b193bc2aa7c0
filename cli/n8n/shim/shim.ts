/**
 * What code of n8n expects to find, as JavaScript of code nodes. Each part is written into the nodes that
 * use it, and into no others.
 */
import { CALENDAR } from './calendar.ts';
import { DATA } from './data.ts';
import { CRYPTO } from './crypto.ts';
import { XML } from './xml.ts';
import { PAGES } from './html.ts';
import { METHODS } from './methods.ts';
import { SERVICES } from './services.ts';
import type { ShimPart } from './part.ts';

const BASIC: readonly ShimPart[] = [
  {
    name: 'attempt',
    needs: /\battempt\(/,
    source: `const attempt = (compute) => {
  try {
    return compute();
  } catch (error) {
    if (error instanceof TypeError || error instanceof ReferenceError) return undefined;
    throw error;
  }
};`,
  },
  {
    name: 'text',
    needs: /\btext\(/,
    source: `const text = (value) =>
  value === undefined || value === null ? '' : typeof value === 'object' && !value.toISO ? JSON.stringify(value) : String(value);`,
  },
  {
    name: 'parseJson',
    needs: /\bparseJson\(/,
    source: `const parseJson = (value) => (typeof value === 'string' ? JSON.parse(value) : value);`,
  },
  {
    name: 'wrap',
    needs: /\bwrap\(/,
    source: `const wrap = (list) => list.map((json) => ({ json, binary: {} }));`,
  },
  {
    name: 'unwrap',
    needs: /\bunwrap\(/,
    source: `const unwrap = (result) =>
  (Array.isArray(result) ? result : result === undefined || result === null ? [] : [result])
    .map((item) => (item !== null && typeof item === 'object' && 'json' in item ? item.json : item));`,
  },
  {
    name: 'responseItems',
    needs: /\bresponseItems\(/,
    source: `const responseItems = (body) =>
  Array.isArray(body) ? body.map((item) => (item !== null && typeof item === 'object' ? item : { data: item })) : body !== null && typeof body === 'object' ? [body] : body === null || body === undefined ? [{}] : [{ data: body }];`,
  },
  {
    name: 'rowItems',
    needs: /\browItems\(/,
    source: `const rowItems = (rows) => (rows ?? []).map(({ row, values }) => ({ row_number: row, ...values }));`,
  },
  {
    name: '$env',
    needs: /\$(?:env|vars)\b/,
    source: `const $env = vars ?? {};
const $vars = $env;`,
  },
  {
    name: '$execution',
    needs: /\$(?:execution|workflow|runIndex|mode|prevNode|nodeVersion|nodeId|executionId)\b/,
    source: `const $execution = { id: run.id, mode: run.test ? 'test' : 'production' };
const $executionId = run.id;
const $workflow = { id: run.workflow, name: run.workflow, active: true };
const $mode = 'trigger';
const $runIndex = 0;
const $prevNode = { name: '', outputIndex: 0, runIndex: 0 };`,
  },
  {
    name: '$if',
    needs: /\$(?:if|ifEmpty|min|max|not)\(/,
    source: `const $if = (condition, yes, no) => (condition ? yes : no);
const $ifEmpty = (value, otherwise) =>
  value === undefined || value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0) ? otherwise : value;
const $min = Math.min;
const $max = Math.max;
const $not = (value) => !value;`,
  },
  {
    name: 'Buffer',
    needs: /\bBuffer\./,
    source: `const bytesToText = (bytes) => Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
const Buffer = {
  from: (value, encoding = 'utf8') => {
    const bytes = encoding === 'base64' ? Uint8Array.from(atob(value), (c) => c.charCodeAt(0)) : typeof value === 'string' ? new TextEncoder().encode(value) : Uint8Array.from(value);
    return {
      length: bytes.length,
      toString: (as = 'utf8') => as === 'base64' ? btoa(bytesToText(bytes)) : as === 'hex' ? Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('') : new TextDecoder().decode(bytes),
    };
  },
};`,
  },
];

const PARTS: readonly ShimPart[] = [
  ...BASIC,
  ...CALENDAR,
  ...DATA,
  ...SERVICES,
  ...PAGES,
  ...XML,
  ...CRYPTO,
  ...METHODS,
];

/** The code behind the parts that it uses. */
export function withShim(code: string): string {
  const shim = shimOf(code);
  return shim === '' ? code : `${shim}\n${code}`;
}

/** The parts that the code uses, in an order in which each follows what it uses. */
function shimOf(code: string): string {
  const chosen = new Set(PARTS.filter(({ needs }) => needs.test(code)).map(({ name }) => name));
  for (const name of chosen)
    for (const other of PARTS.find((part) => part.name === name)?.uses ?? []) chosen.add(other);
  return PARTS.filter(({ name }) => chosen.has(name))
    .map(({ source }) => source)
    .join('\n');
}
