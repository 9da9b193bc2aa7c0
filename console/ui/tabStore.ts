/**
 * What a tab remembers for a user beside the address: it survives a reload, and ends with the tab or when the
 * user signs out. Values that are too long are not kept.
 */

/** What is remembered, and of which workflow. */
export type TabKey = { user: string | undefined; namespace: string; workflow: string; what: string };

const PREFIX = 'windlass.tab ';
/** In characters: a browser stores 5 million for all pages of a tab. */
const LONGEST = 262_144;

/** The value; undefined: there is none. */
export function readTab(key: TabKey, storage: Storage = sessionStorage): unknown {
  try {
    return JSON.parse(storage.getItem(nameOf(key)) ?? '') as unknown;
  } catch {
    return undefined;
  }
}

/** Undefined removes the value. */
export function writeTab(key: TabKey, value: unknown, storage: Storage = sessionStorage): void {
  const text = value === undefined ? '' : JSON.stringify(value);
  try {
    if (text === '' || text.length > LONGEST) storage.removeItem(nameOf(key));
    else storage.setItem(nameOf(key), text);
  } catch {
    // The browser has no room, and an older value would come back in place of this one.
    storage.removeItem(nameOf(key));
  }
}

/** Forgets everything. */
export function clearTab(storage: Storage = sessionStorage): void {
  const names = Array.from({ length: storage.length }, (_none, index) => storage.key(index) ?? '');
  for (const name of names) if (name.startsWith(PREFIX)) storage.removeItem(name);
}

function nameOf({ user = '', namespace, workflow, what }: TabKey): string {
  return PREFIX + JSON.stringify([user, namespace, workflow, what]);
}
