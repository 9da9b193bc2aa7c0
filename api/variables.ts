/** How the ConfigMap of a project becomes variables. Pure. */
import { NO_VARIABLES, VARIABLES_BYTES, type Variables } from './expression/variables.ts';
import { parseJson } from './json.ts';

/** The variables in the data of a ConfigMap. */
export function variablesIn(data: Readonly<Record<string, string>> = {}): Variables {
  const entries = Object.entries(data);
  const bytes = new TextEncoder().encode(entries.flat().join('')).length;
  if (bytes > VARIABLES_BYTES) return { ...NO_VARIABLES, isTooLarge: true };
  const parsed = entries.map(([key, text]) => [key, valueOf(key, text)] as const);
  return {
    values: Object.fromEntries(parsed.filter(([, value]) => value !== undefined)),
    invalid: parsed.flatMap(([key, value]) => (value === undefined ? [key] : [])),
  };
}

/** Undefined for a value that should be JSON and is not. */
function valueOf(key: string, text: string): unknown {
  if (!key.endsWith('.json')) return text;
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : undefined;
}
