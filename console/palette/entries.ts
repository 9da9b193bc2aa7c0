/** What the command palette offers, and what of it a text finds. Pure. */

/** In the order in which they are shown, unless a text is the beginning of a label. */
const GROUPS = ['Actions', 'Nodes', 'Workflows', 'Runs', 'Credentials', 'Pages', 'Documentation'] as const;

export type Entry = {
  /** Unique. */
  key: string;
  group: (typeof GROUPS)[number];
  label: string;
  /** What distinguishes it from others of the same label, such as the name of the object. */
  detail?: string;
  open: () => void;
};

/** How many of each group are shown. */
const MOST = 8;
/** How many of each group are shown before anything is typed. */
const AT_FIRST = 5;

/**
 * The entries whose label or detail contains each word. Those whose label begins with the text come first in
 * their group, and such groups before the others.
 */
export function foundEntries(entries: readonly Entry[], text: string): Entry[] {
  const wanted = text.trim().toLowerCase();
  const words = wanted.split(/\s+/).filter(Boolean);
  const matches = entries.filter(({ label, detail = '' }) => {
    const own = `${label} ${detail}`.toLowerCase();
    return words.every((word) => own.includes(word));
  });
  const rank = ({ label, detail = '' }: Entry) =>
    wanted === '' || label.toLowerCase().startsWith(wanted) || detail.toLowerCase() === wanted ? 0 : 1;
  const most = wanted === '' ? AT_FIRST : MOST;
  const shown = GROUPS.map((group) =>
    matches
      .filter((entry) => entry.group === group)
      .toSorted((one, other) => rank(one) - rank(other))
      .slice(0, most),
  );
  const rankOf = ([best]: Entry[]): number => (best === undefined ? 0 : rank(best));
  return shown.toSorted((one, other) => rankOf(one) - rankOf(other)).flat();
}

/** What a text found, and whether all entries were loaded by then. */
export type Found = { text: string; isLoaded: boolean; shown: readonly Entry[] };

/**
 * What the text finds. Once all entries are loaded it stays until the text changes: a run that starts
 * meanwhile would move another one under the pointer and the selection.
 */
export function foundSince(
  before: Found | undefined,
  { text, isLoaded, entries }: { text: string; isLoaded: boolean; entries: readonly Entry[] },
): Found {
  if (before?.isLoaded === true && before.text === text) return before;
  return { text, isLoaded, shown: foundEntries(entries, text) };
}
