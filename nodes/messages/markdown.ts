/**
 * Parses Markdown as models write it: bold, italic, strikethrough, code, links, headings (as bold) and lists.
 * Marks that are not well-formed stay as they are written, so that no text is lost. Linear time. Pure.
 */
import type { Format, RichText, Span } from '../contract/messenger.ts';

type Output = { text: string; spans: Span[] };

/**
 * The language and the white space behind it stand or fall together: two runs of white space side by side
 * take quadratic time.
 */
const FENCE = /^ {0,3}(`{3,}|~{3,})[ \t]*(?:([\w+#.-]{1,32})[ \t]*)?$/;
const HEADING = /^ {0,3}#{1,6}[ \t]+/;
const BULLET = /^([ \t]*)[-*+][ \t]+/;
const RULE = /^ {0,3}(?:-{3,}|\*{3,}|_{3,})[ \t]*$/;

/** The text with its formats. */
export function parseMarkdown(source: string): RichText {
  const out: Output = { text: '', spans: [] };
  const lines = source.split(/\r\n?|\n/);
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    const [, fence, language] = FENCE.exec(line) ?? [];
    if (index > 0) out.text += '\n';
    if (fence === undefined) addLine(line, out);
    else {
      const end = endOfFence(lines, index + 1, fence);
      addSpan(out, { format: 'pre', ...(language && { language }) }, () => {
        out.text += lines.slice(index + 1, end).join('\n');
      });
      index = end;
    }
  }
  return out;
}

/** The line that ends the block; what has no end continues to the end of the text. */
function endOfFence(lines: readonly string[], first: number, fence: string): number {
  for (let index = first; index < lines.length; index += 1) {
    const text = lines[index]?.trim() ?? '';
    if (text.startsWith(fence) && text === fence.charAt(0).repeat(text.length)) return index;
  }
  return lines.length;
}

function addLine(line: string, out: Output): void {
  const heading = HEADING.exec(line)?.[0];
  if (RULE.test(line)) out.text += '———';
  else if (heading !== undefined) {
    const text = line.slice(heading.length).trimEnd();
    addSpan(out, { format: 'bold' }, () => addInline(text, out, new Set(['bold'])));
  } else addInline(line.replace(BULLET, '$1• '), out, new Set());
}

function addSpan(out: Output, span: Omit<Span, 'start' | 'end'>, add: () => void): void {
  const start = out.text.length;
  // Outer spans stand before inner ones.
  const place = out.spans.length;
  add();
  if (out.text.length > start) out.spans.splice(place, 0, { ...span, start, end: out.text.length });
}

const ESCAPED = /\\([!-/:-@[-`{-~])/y;
const LINK =
  /!?\[([^[\]\n]{1,1000})\]\(<?((?:https?:\/\/|mailto:)[^\s<>()]{1,2000}(?:\([^\s<>()]{0,500}\)[^\s<>()]{0,500})?)>?(?: "[^"\n]{0,500}")?\)/y;
const AUTOLINK = /<(https?:\/\/[^\s<>]{1,2000})>/y;
const CODE = /`+/y;

/** Longer ones first. */
const MARKS: readonly [mark: string, formats: readonly Format[]][] = [
  ['***', ['bold', 'italic']],
  ['**', ['bold']],
  ['__', ['bold']],
  ['~~', ['strikethrough']],
  ['*', ['italic']],
  ['_', ['italic']],
];

type Inline = { source: string; out: Output; active: ReadonlySet<Format>; missing: Set<string> };

/** `active`: the formats that hold already. */
function addInline(source: string, out: Output, active: ReadonlySet<Format>): void {
  const inline: Inline = { source, out, active, missing: new Set() };
  let at = 0;
  while (at < source.length) {
    const end = addLiteral(inline, at) ?? addCode(inline, at) ?? addLink(inline, at) ?? addMarked(inline, at);
    if (end === undefined) out.text += source.charAt(at);
    at = end ?? at + 1;
  }
}

function matchAt(pattern: RegExp, source: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(source) ?? undefined;
}

function addLiteral({ source, out }: Inline, at: number): number | undefined {
  const found = matchAt(ESCAPED, source, at) ?? matchAt(AUTOLINK, source, at);
  if (!found) return undefined;
  out.text += found[1];
  return at + found[0].length;
}

function addCode({ source, out, missing }: Inline, at: number): number | undefined {
  const mark = matchAt(CODE, source, at)?.[0];
  if (mark === undefined) return undefined;
  const start = at + mark.length;
  const end = missing.has(mark) ? -1 : source.indexOf(mark, start);
  if (end < 0) {
    missing.add(mark);
    out.text += mark;
    return start;
  }
  addSpan(out, { format: 'code' }, () => {
    out.text += source.slice(start, end);
  });
  return end + mark.length;
}

function addLink({ source, out, active }: Inline, at: number): number | undefined {
  if (active.has('link')) return undefined;
  const [all, text = '', url = ''] = matchAt(LINK, source, at) ?? [];
  if (all === undefined) return undefined;
  addSpan(out, { format: 'link', url }, () => addInline(text, out, new Set([...active, 'link'])));
  return at + all.length;
}

function addMarked(inline: Inline, at: number): number | undefined {
  const { source, out, active } = inline;
  for (const [mark, formats] of MARKS) {
    if (!source.startsWith(mark, at) || !opens(source, mark, at)) continue;
    const start = at + mark.length;
    const end = closing(inline, mark, start);
    if (end === undefined) continue;
    let add = () => addInline(source.slice(start, end), out, new Set([...active, ...formats]));
    // What is bold already is not made bold once more.
    for (const format of formats.filter((each) => !active.has(each))) {
      const inner = add;
      add = () => addSpan(out, { format }, inner);
    }
    add();
    return end + mark.length;
  }
  return undefined;
}

const isWord = (character: string): boolean => /[\p{L}\p{N}_]/u.test(character);
const isSpace = (character: string): boolean => character === '' || /\s/.test(character);

/** A name such as `some_long_name` has no marks in it. */
function opens(source: string, mark: string, at: number): boolean {
  if (isSpace(source.charAt(at + mark.length))) return false;
  return !mark.startsWith('_') || !isWord(source.charAt(at - 1));
}

/** Where the mark ends what it began. What was looked for in vain is not looked for again. */
function closing({ source, missing }: Inline, mark: string, start: number): number | undefined {
  if (missing.has(mark)) return undefined;
  for (let at = source.indexOf(mark, start + 1); at >= 0; at = source.indexOf(mark, at + 1)) {
    if (closes(source, mark, at)) return at;
  }
  missing.add(mark);
  return undefined;
}

function closes(source: string, mark: string, at: number): boolean {
  const [before, after] = [source.charAt(at - 1), source.charAt(at + mark.length)];
  if (isSpace(before) || before === '\\') return false;
  if (mark.startsWith('_') && isWord(after)) return false;
  // One of two is a half of another mark.
  return before !== mark.charAt(0) && after !== mark.charAt(0);
}
