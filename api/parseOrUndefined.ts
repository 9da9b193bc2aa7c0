/**
 * The value of a JSON text; undefined if it is not JSON. Bodies that strangers send need the limits of
 * `parseJson` (`json.ts`).
 */
export function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
