/** The groups of the table of contents, in the order in which people need them. Pure. */

/** The pages of each group, in their order. Pages of its folder follow by their title. */
const GROUPS: readonly { label: string; pages: readonly string[]; folder?: string }[] = [
  {
    label: 'Getting started',
    pages: ['console', 'triggers', 'skills', 'expressions', 'credentials', 'import-n8n'],
  },
  {
    label: 'Build',
    pages: [
      'language',
      'code',
      'agents',
      'models',
      'chat',
      'webhooks',
      'callbacks',
      'execution',
      'evaluation',
    ],
    folder: 'triggers/',
  },
  {
    label: 'Operate',
    pages: [
      'operations',
      'projects',
      'budgets',
      'gitops',
      'metrics',
      'audit',
      'upgrade',
      'backup',
      'run-store',
      'scale',
      'cluster',
      'uninstall',
      'security',
    ],
    folder: 'security/',
  },
  { label: 'Reference', pages: ['http', 'cli', 'glossary'], folder: 'reference/' },
];

type Group<Doc> = { label: string; docs: Doc[] };

/** The pages by group; those of no group are with the last one. */
export function groupedDocs<Doc extends { page: string }>(docs: readonly Doc[]): Group<Doc>[] {
  const left = new Set(docs);
  const grouped = GROUPS.map(({ label, pages, folder }) => {
    const named = pages.flatMap((page) => docs.find((each) => each.page === page) ?? []);
    const inFolder = docs.filter(({ page }) => folder !== undefined && page.startsWith(folder));
    for (const doc of [...named, ...inFolder]) left.delete(doc);
    return { label, docs: [...named, ...inFolder] };
  });
  grouped.at(-1)?.docs.push(...left);
  return grouped;
}

/** The pages that a group names. */
export const NAMED_PAGES: readonly string[] = GROUPS.flatMap(({ pages }) => [...pages]);
