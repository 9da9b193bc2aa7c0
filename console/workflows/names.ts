/** Object names from display names: DNS labels (RFC 1123) of at most 63 characters. */

const LIMIT = 63;
/** So many characters may a display name have. */
export const LONGEST_DISPLAY_NAME = 256;

/** The object name for a display name: "grosse-preis" of "Größe & Preis"; empty if nothing is usable. */
export function nameFor(displayName: string): string {
  return displayName
    .replaceAll('ß', 'ss')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, LIMIT)
    .replaceAll(/^-+|-+$/g, '');
}

/** The name itself, or with the lowest free number. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  for (let number = 2; ; number += 1) {
    const suffix = `-${number}`;
    const next = `${name.slice(0, LIMIT - suffix.length).replace(/-+$/, '')}${suffix}`;
    if (!taken.has(next)) return next;
  }
}

/** The problem with a name and how to fix it; undefined: none. */
export function nameProblem(name: string, taken: ReadonlySet<string>): string | undefined {
  if (name === '') return 'Enter a name.';
  if (name.length > LIMIT) return `Use at most ${LIMIT} characters. This name has ${name.length}.`;
  if (!/^[a-z0-9-]*$/.test(name)) return 'Use only lowercase letters, digits and hyphens.';
  if (name.startsWith('-') || name.endsWith('-')) return 'Start and end with a letter or digit.';
  if (taken.has(name))
    return `A workflow with this name already exists. ${freeName(name, taken)} is available.`;
  return undefined;
}
