/**
 * The blocks of a Markdown text, as `console/ui/markdownBlocks.ts` reads them: a test compares both. Linear in
 * the length of the text. The page has this script before `chatPage.js`.
 */
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+([^]*)$/;
const ROW = /^\s*\|([^]*)\|\s*$/;
const MAX_DEPTH = 6;

const READERS = [
  { start: /^(```|~~~)/, read: readCode },
  { start: /^#{1,6}\s/, read: readHeading },
  { start: /^\s{0,3}([-*_])(\s*\1){2,}\s*$/, read: readRule },
  { start: ITEM, read: (lines) => readList(lines, 0) },
  { start: ROW, read: readTable },
  { start: /^>/, read: readQuote },
];

export function readMarkdown(text) {
  return blocksOf(text.split('\n').toReversed(), 0);
}

/** `lines`: the next one is the last, because removing the first of many moves all others. */
function blocksOf(lines, depth) {
  const blocks = [];
  while (lines.length > 0) {
    const line = lines.at(-1);
    const reader = depth > MAX_DEPTH ? undefined : READERS.find(({ start }) => start.test(line));
    if (line.trim() === '') lines.pop();
    else blocks.push((reader?.read ?? readText)(lines, depth));
  }
  return blocks;
}

const startsBlock = (line) => line.trim() === '' || READERS.some(({ start }) => start.test(line));

function readText(lines) {
  const text = [lines.pop(), ...taken(lines, (line) => !startsBlock(line))];
  return { kind: 'text', text: text.join('\n') };
}

/** Takes the next lines as long as they fit. */
function taken(lines, fits) {
  const found = [];
  while (lines.length > 0 && fits(lines.at(-1))) found.push(lines.pop());
  return found;
}

function readCode(lines) {
  const fence = lines.pop().slice(0, 3);
  const code = taken(lines, (line) => !line.startsWith(fence));
  lines.pop();
  return { kind: 'code', text: code.join('\n') };
}

function readHeading(lines) {
  const [, marks, text] = /^(#{1,6})\s+([^]*)$/.exec(lines.pop());
  return { kind: 'heading', level: marks.length, text };
}

function readRule(lines) {
  lines.pop();
  return { kind: 'rule' };
}

/** Marks of quotes in quotes are left out: they would make the depth as large as the text. */
function readQuote(lines, depth) {
  const quoted = taken(lines, (line) => line.startsWith('>')).map((line) => line.replace(/^(?:>\s?)+/, ''));
  return { kind: 'quote', blocks: blocksOf(quoted.toReversed(), depth + 1) };
}

/** Deeper indented items are a list in the item before; another kind of marker begins another list. */
function readList(lines, depth) {
  const first = itemIn(lines.at(-1));
  const items = [];
  for (let next = first; next; next = itemIn(lines.at(-1))) {
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
function itemIn(line = '') {
  const found = ITEM.exec(line);
  if (!found) return undefined;
  const [, indent, marker, text] = found;
  const number = /\d/.test(marker) ? Number.parseInt(marker, 10) : undefined;
  return { indent: indent.length, number, text };
}

/** The text of an item, with its indented lines. */
function readItem(lines, text) {
  lines.pop();
  const more = taken(lines, (line) => /^\s+\S/.test(line) && !ITEM.test(line));
  return [text, ...more.map((line) => line.trim())].join('\n');
}

/** A header, a line of dashes, and rows: `| a | b |`. Without the dashes it is text. */
function readTable(lines) {
  const dashes = lines.at(-2) ?? '';
  if (!/^[\s|:-]+$/.test(dashes) || !dashes.includes('-')) return readText(lines);
  const head = cellsOf(lines.pop());
  lines.pop();
  return { kind: 'table', head, rows: taken(lines, (line) => ROW.test(line)).map(cellsOf) };
}

function cellsOf(line) {
  const [, cells] = ROW.exec(line);
  return cells.split('|').map((cell) => cell.trim());
}
