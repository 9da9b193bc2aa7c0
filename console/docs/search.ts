/** Search in the titles and headings of the documentation. Pure. */
import type { DocEntry, Heading } from './doc.ts';

type FoundDoc = { page: string; title: string; headings: Heading[] };

/** How many headings of a page are listed. */
const MOST = 6;

/** The pages whose title, name or headings contain each word, those with a fitting title first. */
export function foundDocs(docs: readonly DocEntry[], text: string): FoundDoc[] {
  const words = text.trim().toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return docs.map(({ page, title }) => ({ page, title, headings: [] }));
  const fits = (...texts: string[]) => words.every((word) => texts.join(' ').toLowerCase().includes(word));
  const found = docs.map(({ page, title, headings }) => ({
    page,
    title,
    isNamed: fits(title, page),
    headings: headings.filter((heading) => fits(heading.text)).slice(0, MOST),
  }));
  return found
    .filter(({ isNamed, headings }) => isNamed || headings.length > 0)
    .toSorted((one, other) => Number(other.isNamed) - Number(one.isNamed))
    .map(({ page, title, headings }) => ({ page, title, headings }));
}
