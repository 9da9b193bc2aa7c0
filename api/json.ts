/**
 * A strict JSON parser for untrusted input. Guarantees: throws nothing; an accepted value has no key that
 * could reach a prototype, no duplicate key, no number beyond the limits, no unpaired surrogate, and is
 * bounded in depth and size; time and memory are linear in the text. Grammar: RFC 8259. Messages do not echo
 * the input.
 */
import { endOfString, ExactNumber, isBounded, parseExact } from './exact/exactNumber.ts';
import { isRecord } from './record.ts';

export type JsonLimits = {
  /** The deepest nesting of objects and arrays. */
  maxDepth: number;
  /** The most keys of one object. */
  maxKeys: number;
  /** The most values and keys in total. */
  maxTokens: number;
};

/** The limits of every body that the gateway accepts. */
export const JSON_LIMITS: JsonLimits = { maxDepth: 64, maxKeys: 10_000, maxTokens: 100_000 };

/** `status` is the HTTP status: 400 for invalid JSON, 422 for refused JSON. */
type JsonRefusal = { status: 400 | 422; message: string };

const REFUSALS = {
  'bad-json': { status: 400, message: 'The text is not valid JSON in UTF-8.' },
  'too-deep': { status: 422, message: 'Objects and arrays are nested too deeply.' },
  'too-complex': { status: 422, message: 'The JSON has too many values and keys.' },
  'forbidden-key': {
    status: 422,
    message: 'The key __proto__, and prototype inside constructor, are not accepted.',
  },
  'duplicate-key': { status: 422, message: 'An object has the same key twice.' },
  'number-out-of-range': {
    status: 422,
    message:
      'A number has more than 1,000 characters, is beyond the range of a double, or has an exponent below -1000: send it as text.',
  },
  'lone-surrogate': { status: 422, message: 'A string has an unpaired surrogate.' },
} as const satisfies Record<string, JsonRefusal>;

export type JsonRefusalCode = keyof typeof REFUSALS;

/**
 * `text` is the unchanged text, for storage. `value` has an `ExactNumber` for each number that a double
 * cannot represent.
 */
export type JsonResult =
  | { ok: true; value: unknown; text: string }
  | ({ ok: false; code: JsonRefusalCode } & JsonRefusal);

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses untrusted JSON. Limits are checked before the grammar, so that hostile input costs one scan: input
 * that is both too deep and malformed is refused as too deep.
 */
export function parseJson(input: Uint8Array | string, limits: JsonLimits = JSON_LIMITS): JsonResult {
  const text = typeof input === 'string' ? input : decode(input);
  if (text === undefined) return refuse('bad-json');
  const keys = scan(text, limits);
  if (typeof keys === 'string') return refuse(keys);
  const parsed = parse(text);
  if (!parsed) return refuse('bad-json');
  const inspection = {
    keys: 0,
    maxKeys: limits.maxKeys,
    surrogates: text.includes('\\u') || !text.isWellFormed(),
  };
  const fault = inspect(parsed.value, inspection);
  if (fault) return refuse(fault);
  // JSON.parse drops duplicate keys: then the value has fewer keys than the text.
  return inspection.keys === keys ? { ok: true, value: parsed.value, text } : refuse('duplicate-key');
}

function refuse(code: JsonRefusalCode): JsonResult {
  return { ok: false, code, ...REFUSALS[code] };
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return UTF8.decode(bytes);
  } catch {
    return undefined;
  }
}

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: parseExact(text) };
  } catch {
    return undefined;
  }
}

/**
 * Counts the keys in the text, in one pass that only distinguishes strings from structure. The count is
 * correct for every text that JSON.parse accepts; other texts are refused anyway.
 */
function scan(text: string, limits: JsonLimits): number | 'too-deep' | 'too-complex' {
  let depth = 0;
  let separators = 0;
  let keys = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case COLON:
        keys += 1;
        break;
      case COMMA:
        separators += 1;
        break;
      case OPEN_OBJECT:
      case OPEN_LIST:
        separators += 1;
        depth += 1;
        if (depth > limits.maxDepth) return 'too-deep';
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        depth -= 1;
        break;
      default:
    }
  }
  return keys + separators > limits.maxTokens ? 'too-complex' : keys;
}

const QUOTE = 0x22;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

type Inspection = { keys: number; readonly maxKeys: number; readonly surrogates: boolean };

/** Checks every parsed value and counts the keys. Recursion is safe: the scan has bounded the depth. */
function inspect(value: unknown, inspection: Inspection): JsonRefusalCode | undefined {
  if (typeof value === 'string') return inspectText(value, inspection);
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'number-out-of-range';
  if (value instanceof ExactNumber) return isBounded(value.text) ? undefined : 'number-out-of-range';
  if (Array.isArray(value)) return inspectList(value, inspection);
  return isRecord(value) ? inspectObject(value, inspection) : undefined;
}

function inspectText(text: string, inspection: Inspection): JsonRefusalCode | undefined {
  return inspection.surrogates && !text.isWellFormed() ? 'lone-surrogate' : undefined;
}

function inspectList(list: readonly unknown[], inspection: Inspection): JsonRefusalCode | undefined {
  for (const item of list) {
    const fault = inspect(item, inspection);
    if (fault) return fault;
  }
  return undefined;
}

function inspectObject(object: Record<string, unknown>, inspection: Inspection): JsonRefusalCode | undefined {
  let keys = 0;
  for (const key in object) {
    const value = object[key];
    keys += 1;
    if (isForbidden(key, value)) return 'forbidden-key';
    const fault = inspectText(key, inspection) ?? inspect(value, inspection);
    if (fault) return fault;
  }
  inspection.keys += keys;
  return keys > inspection.maxKeys ? 'too-complex' : undefined;
}

function isForbidden(key: string, value: unknown): boolean {
  if (key === '__proto__') return true;
  return key === 'constructor' && isRecord(value) && Object.hasOwn(value, 'prototype');
}
