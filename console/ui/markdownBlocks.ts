/**
 * The blocks of a Markdown text, as the chat page reads them (a test compares both): paragraphs, headings,
 * lists, quotes, code, rules and tables. Linear in the length of the text. Pure.
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
  return blocksOf(text.split('\n').toReversed(), 0);
}

/** `lines`: the next one is the last, because removing the first of many moves all others. */
function blocksOf(lines: string[], depth: number): Block[] {
  const blocks: Block[] = [];
  while (lines.length > 0) {
    const line = lines.at(-1) ?? '';
    const reader = depth > MAX_DEPTH ? undefined : READERS.find(({ start }) => start.test(line));
    if (line.trim() === '') lines.pop();
    else blocks.push((reader?.read ?? readText)(lines, depth));
  }
  return blocks;
}

const startsBlock = (line: string) => line.trim() === '' || READERS.some(({ start }) => start.test(line));

function readText(lines: string[]): Block {
  const text = [lines.pop() ?? '', ...taken(lines, (line) => !startsBlock(line))];
  return { kind: 'text', text: text.join('\n') };
}

/** Takes the next lines as long as they fit. */
function taken(lines: string[], fits: (line: string) => boolean): string[] {
  const found: string[] = [];
  for (let next = lines.at(-1); next !== undefined && fits(next); next = lines.at(-1)) {
    found.push(next);
    lines.pop();
  }
  return found;
}

function readCode(lines: string[]): Block {
  const fence = (lines.pop() ?? '').slice(0, 3);
  const code = taken(lines, (line) => !line.startsWith(fence));
  lines.pop();
  return { kind: 'code', text: code.join('\n') };
}

function readHeading(lines: string[]): Block {
  const [, marks = '#', text = ''] = /^(#{1,6})\s+([^]*)$/.exec(lines.pop() ?? '') ?? [];
  return { kind: 'heading', level: marks.length, text };
}

function readRule(lines: string[]): Block {
  lines.pop();
  return { kind: 'rule' };
}

/** Marks of quotes in quotes are left out: they would make the depth as large as the text. */
function readQuote(lines: string[], depth: number): Block {
  const quoted = taken(lines, (line) => line.startsWith('>')).map((line) => line.replace(/^(?:>\s?)+/, ''));
  return { kind: 'quote', blocks: blocksOf(quoted.toReversed(), depth + 1) };
}

/** Deeper indented items are a list in the item before; another kind of marker begins another list. */
function readList(lines: string[], depth: number): List {
  const first = itemIn(lines.at(-1)) ?? { indent: 0, number: undefined, text: '' };
  const items: (string | List)[][] = [];
  for (let next = itemIn(lines.at(-1)); next; next = itemIn(lines.at(-1))) {
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
  lines.pop();
  const more = taken(lines, (line) => /^\s+\S/.test(line) && !ITEM.test(line));
  return [text, ...more.map((line) => line.trim())].join('\n');
}

/** A header, a line of dashes, and rows: `| a | b |`. Without the dashes it is text. */
function readTable(lines: string[]): Block {
  const dashes = lines.at(-2) ?? '';
  if (!/^[\s|:-]+$/.test(dashes) || !dashes.includes('-')) return readText(lines);
  const head = cellsOf(lines.pop() ?? '');
  lines.pop();
  return { kind: 'table', head, rows: taken(lines, (line) => ROW.test(line)).map(cellsOf) };
}

function cellsOf(line: string): string[] {
  const [, cells = ''] = ROW.exec(line) ?? [];
  return cells.split('|').map((cell) => cell.trim());
}
