/**
 * The blocks of a Markdown text, as the chat page reads them: paragraphs, headings, lists, quotes, code,
 * rules and tables. Linear in the length of the text. Pure.
 */

export type Block =
  | { kind: 'text'; text: string }
  | { kind: 'heading'; level: number; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'quote'; blocks: Block[] }
  | { kind: 'rule' }
  | { kind: 'table'; head: string[]; rows: string[][] }
  /** `start`: the first number of an ordered list. An item is its text, and the lists in it. */
  | List;

type List = { kind: 'list'; start: number | undefined; items: (string | List)[][] };

const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+([^]*)$/;
const ROW = /^\s*\|([^]*)\|\s*$/;
const MAX_DEPTH = 6;

const READERS: { start: RegExp; read: (lines: string[], depth: number) => Block }[] = [
  { start: /^(```|~~~)/, read: readCode },
  { start: /^#{1,6}\s/, read: readHeading },
  { start: /^\s{0,3}([-*_])(\s*\1){2,}\s*$/, read: readRule },
  { start: ITEM, read: (lines) => readList(lines, 0) },
  { start: ROW, read: readTable },
  { start: /^>/, read: readQuote },
];

export function parseMarkdown(text: string): Block[] {
  return blocksOf(text.split('\n'), 0);
}

function blocksOf(lines: string[], depth: number): Block[] {
  const blocks: Block[] = [];
  while (lines.length > 0) {
    const line = lines[0] ?? '';
    const reader = depth > MAX_DEPTH ? undefined : READERS.find(({ start }) => start.test(line));
    if (line.trim() === '') lines.shift();
    else blocks.push((reader?.read ?? readText)(lines, depth));
  }
  return blocks;
}

const startsBlock = (line: string) => line.trim() === '' || READERS.some(({ start }) => start.test(line));

function readText(lines: string[]): Block {
  const text = [lines.shift() ?? ''];
  while (lines[0] !== undefined && !startsBlock(lines[0])) text.push(lines.shift() ?? '');
  return { kind: 'text', text: text.join('\n') };
}

function readCode(lines: string[]): Block {
  const fence = (lines.shift() ?? '').slice(0, 3);
  const code: string[] = [];
  while (lines[0] !== undefined && !lines[0].startsWith(fence)) code.push(lines.shift() ?? '');
  lines.shift();
  return { kind: 'code', text: code.join('\n') };
}

function readHeading(lines: string[]): Block {
  const [, marks = '#', text = ''] = /^(#{1,6})\s+([^]*)$/.exec(lines.shift() ?? '') ?? [];
  return { kind: 'heading', level: marks.length, text };
}

function readRule(lines: string[]): Block {
  lines.shift();
  return { kind: 'rule' };
}

/** Marks of quotes in quotes are left out: they would make the depth as large as the text. */
function readQuote(lines: string[], depth: number): Block {
  const quoted: string[] = [];
  while (lines[0]?.startsWith('>') === true) quoted.push((lines.shift() ?? '').replace(/^(?:>\s?)+/, ''));
  return { kind: 'quote', blocks: blocksOf(quoted, depth + 1) };
}

/** Deeper indented items are a list in the item before; another kind of marker begins another list. */
function readList(lines: string[], depth: number): List {
  const first = itemIn(lines[0]) ?? { indent: 0, number: undefined, text: '' };
  const items: (string | List)[][] = [];
  for (let next = itemIn(lines[0]); next; next = itemIn(lines[0])) {
    const last = items.at(-1);
    if (next.indent > first.indent && depth < MAX_DEPTH && last) {
      last.push(readList(lines, depth + 1));
      continue;
    }
    if (next.indent < first.indent || (next.number === undefined) !== (first.number === undefined)) break;
    items.push([readItem(lines, next.text)]);
  }
  return { kind: 'list', start: first.number, items };
}

/** The item that begins with the line. `number`: of an ordered list. */
function itemIn(line = ''): { indent: number; number: number | undefined; text: string } | undefined {
  const [whole, indent = '', marker = '', text = ''] = ITEM.exec(line) ?? [];
  if (whole === undefined) return undefined;
  const number = /\d/.test(marker) ? Number.parseInt(marker, 10) : undefined;
  return { indent: indent.length, number, text };
}

/** The text of an item, with its indented lines. */
function readItem(lines: string[], text: string): string {
  const item = [text];
  lines.shift();
  while (lines[0] !== undefined && /^\s+\S/.test(lines[0]) && !ITEM.test(lines[0]))
    item.push((lines.shift() ?? '').trim());
  return item.join('\n');
}

/** A header, a line of dashes, and rows: `| a | b |`. Without the dashes it is text. */
function readTable(lines: string[]): Block {
  const dashes = lines[1] ?? '';
  if (!/^[\s|:-]+$/.test(dashes) || !dashes.includes('-')) return readText(lines);
  const head = cellsOf(lines.shift() ?? '');
  lines.shift();
  const rows: string[][] = [];
  while (lines[0] !== undefined && ROW.test(lines[0])) rows.push(cellsOf(lines.shift() ?? ''));
  return { kind: 'table', head, rows };
}

function cellsOf(line: string): string[] {
  const [, cells = ''] = ROW.exec(line) ?? [];
  return cells.split('|').map((cell) => cell.trim());
}
