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
  /** Shown after the detail. No text finds it. */
  note?: string;
  /** Finds it as the label does, but is not shown: the whole name of a run. */
  alias?: string;
  open: () => void;
};

/** How many of each group are shown. */
const MOST = 8;
/** How many of each group are shown before anything is typed, besides all actions, which need no search. */
const AT_FIRST = 5;

/** In lower case, and with common spaces: times and numbers have some that nobody types. */
const plain = (text: string): string => text.toLowerCase().replaceAll(/\s+/g, ' ');

function matchesOf(entries: readonly Entry[], text: string): Entry[] {
  const words = plain(text).split(' ').filter(Boolean);
  return entries.filter(({ label, detail = '', alias = '' }) => {
    const own = plain(`${label} ${detail} ${alias}`);
    return words.every((word) => own.includes(word));
  });
}

/**
 * The entries whose texts contain each word. Those whose label or alias begins with the text come first in
 * their group, and such groups before the others.
 */
export function foundEntries(entries: readonly Entry[], text: string): Entry[] {
  const wanted = plain(text).trim();
  const matches = matchesOf(entries, text);
  const begins = (text: string) => plain(text).startsWith(wanted);
  const rank = ({ label, detail = '', alias = '' }: Entry) =>
    begins(label) || begins(alias) || plain(detail) === wanted ? 0 : 1;
  const most = (group: Entry['group']): number => {
    if (wanted !== '') return MOST;
    return group === 'Actions' ? Infinity : AT_FIRST;
  };
  const shown = GROUPS.map((group) =>
    matches
      .filter((entry) => entry.group === group)
      .toSorted((one, other) => rank(one) - rank(other))
      .slice(0, most(group)),
  );
  const rankOf = ([best]: Entry[]): number => (best === undefined ? 0 : rank(best));
  return shown.toSorted((one, other) => rankOf(one) - rankOf(other)).flat();
}

/** How many entries of each group the text finds, also those that are not shown. */
function countsOf(entries: readonly Entry[], text: string): ReadonlyMap<string, number> {
  const groups = Map.groupBy(matchesOf(entries, text), ({ group }) => group);
  return new Map([...groups].map(([group, found]) => [group, found.length]));
}

/** What a text found, and whether all entries were loaded by then. */
export type Found = {
  text: string;
  isLoaded: boolean;
  shown: readonly Entry[];
  /** How many were found, by group. */
  counts: ReadonlyMap<string, number>;
};

/**
 * What the text finds. Once all entries are loaded it stays until the text changes: a run that starts
 * meanwhile would move another one under the pointer and the selection.
 */
export function foundSince(
  before: Found | undefined,
  { text, isLoaded, entries }: { text: string; isLoaded: boolean; entries: readonly Entry[] },
): Found {
  if (before?.isLoaded === true && before.text === text) return before;
  return { text, isLoaded, shown: foundEntries(entries, text), counts: countsOf(entries, text) };
}
