/**
 * Converts untrusted HTML to text in linear time: the regular expressions of the mail parser take minutes for
 * a megabyte of `<a href=`.
 */
import PostalMime from 'postal-mime';

/** Longer than any output. */
const LONGEST_TEXT = 524_288;

/** HTML as text. What nobody sees of a page is left out, and so is what is longer than any output. */
export async function textOfHtml(html: string): Promise<string> {
  const plain = withoutTags(shownOf(html)).slice(0, LONGEST_TEXT).toWellFormed();
  // The parser resolves references such as `&uuml;` in a part in HTML that stands beside one in plain text.
  const mixed = [
    'Content-Type: multipart/mixed; boundary=part',
    '',
    '--part',
    'Content-Type: text/plain',
    '',
    '',
    '--part',
    'Content-Type: text/html; charset=utf-8',
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from(plain, 'utf8').toString('base64'),
    '--part--',
    '',
  ];
  const { text = '' } = await PostalMime.parse(mixed.join('\r\n'));
  return text.trim().replaceAll(LESS, '<').replaceAll(MORE, '>');
}

/** Plain text as HTML. */
export function htmlOfText(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return `<div>${escaped.trim().replaceAll('\n', '<br>')}</div>`;
}

/** From where it begins to where it ends, or to the end of the page. */
const HIDDEN = [
  [/<style\b/gi, /<\/style\s*>/gi],
  [/<script\b/gi, /<\/script\s*>/gi],
  [/<title\b/gi, /<\/title\s*>/gi],
  [/<!--/g, /-->/g],
] as const;

/** The page without what nobody sees. */
function shownOf(html: string): string {
  return HIDDEN.reduce((page, [begin, end]) => without(page, begin, end), html);
}

function without(page: string, begin: RegExp, end: RegExp): string {
  const kept: string[] = [];
  let at = 0;
  while (at < page.length) {
    begin.lastIndex = at;
    const found = begin.exec(page);
    kept.push(page.slice(at, found?.index));
    if (!found) break;
    end.lastIndex = found.index;
    at = end.exec(page) ? end.lastIndex : page.length;
  }
  return kept.join('');
}

/** For `<` and `>` that are text, until the parser is done: characters that no language uses. */
const [LESS, MORE] = ['\ue000', '\ue001'];

/** What is no tag stays as it is, with its references; no `<` or `>` is left. */
function withoutTags(page: string): string {
  const parts: string[] = [];
  const tag = /<[a-z/!?]/gi;
  let at = 0;
  for (let open = tag.exec(page); open; open = tag.exec(page)) {
    parts.push(kept(page.slice(at, open.index)));
    const close = page.indexOf('>', open.index);
    // A tag that never ends is the last of a page that is cut off.
    if (close < 0) return parts.join('');
    parts.push(textOfTag(page.slice(open.index + 1, close)));
    at = close + 1;
    tag.lastIndex = at;
  }
  return parts.join('') + kept(page.slice(at));
}

const BLOCKS = new Set(
  'p div table tr td th ul ol dl pre h1 h2 h3 h4 h5 h6 blockquote section article header footer'.split(' '),
);
const INLINE = new Set('a span em i strong b u font small big sub sup code'.split(' '));

/** What stands in place of a tag, so that what it parts stays apart. */
function textOfTag(tag: string): string {
  const [, slash = '', name = ''] = /^(\/?)([a-z][a-z0-9]*)/i.exec(tag) ?? [];
  const kind = name.toLowerCase();
  const [, href = ''] = (kind === 'a' && /\shref\s*=\s*["']?([^\s"']+)/i.exec(tag)) || [];
  if (href !== '') return ` (${kept(href)}) `;
  if (kind === 'br') return '\n';
  if (kind === 'hr') return '\n-------------\n';
  if (kind === 'li') return slash ? '' : '\n* ';
  if (BLOCKS.has(kind)) return '\n\n';
  return INLINE.has(kind) ? '' : ' ';
}

function kept(text: string): string {
  return text.replaceAll('<', LESS).replaceAll('>', MORE);
}
