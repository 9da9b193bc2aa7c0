/** The text of a link to another page of the documentation. Pure. */
import type { DocEntry, DocPlace, Inline } from './doc.ts';

const FILE_NAME = /^[\w./-]+\.md$/;

/** The name of a file becomes the heading or the title that the link leads to. */
export function linkText(
  docs: readonly DocEntry[],
  { to, parts }: { to: DocPlace; parts: readonly Inline[] },
): readonly Inline[] {
  const [only] = parts;
  if (parts.length !== 1 || typeof only !== 'string' || !FILE_NAME.test(only)) return parts;
  const doc = docs.find(({ page }) => page === to.page);
  const text = doc?.headings.find(({ id }) => id === to.hash)?.text ?? doc?.title;
  return text === undefined ? parts : [text];
}
