/** The text of a JSON field. Pure. */

export type ReadJson = { ok: true; value: unknown } | { ok: false; message: string };

const STRINGS = /"(?:\\.|[^"\\])*"/g;

/** The value of the text; undefined without any text. */
export function readJson(text: string, accepts: 'any' | 'object'): ReadJson {
  if (text.trim() === '') return { ok: true, value: undefined };
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (accepts === 'object' && !isObject)
      return { ok: false, message: 'Enter a JSON object: { "name": "value" }.' };
    return { ok: true, value };
  } catch (error) {
    return { ok: false, message: `Invalid JSON, not applied: ${reasonOf(text, error)}` };
  }
}

function reasonOf(text: string, error: unknown): string {
  // n8n takes references without quotes.
  if (text.replaceAll(STRINGS, '').includes('{{')) return 'put references in quotes, as in "{{ … }}".';
  return error instanceof Error ? error.message.replace(/ in JSON at position \d+/, '') : '';
}

/** The text of a value; empty without one. */
export function jsonText(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value, null, 2);
}

/**
 * The value as plain text: a string as it is, anything else as JSON. If `before` is a text that stands for
 * the same value, that text is returned: it may contain numbers that JSON would round.
 */
export function plainText(value: unknown, before?: unknown): string {
  if (typeof before === 'string' && jsonText(parsedOr(before)) === jsonText(value)) return before;
  return typeof value === 'string' ? value : jsonText(value);
}

/** Plain text as a value: the value of text that is valid JSON, or else the text. */
export function parsedOr(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
