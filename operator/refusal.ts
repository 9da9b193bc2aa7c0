/** How a right that the operator lacks is told to those who wait for what it cannot do. */

/** A sentence with what to do. The API server's own words name the verb and the resource. */
export function lackOfRight(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error);
  return `The operator lacks a right. Ask whoever installed Windlass: ${said}`;
}
