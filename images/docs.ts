/**
 * The documentation in the console: Markdown files of `docs/` as data, one module for each page, so that a
 * browser loads the pages that are read. HTML in a file is text, and a link leads to another page, to another
 * site with http or https, or nowhere.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import type { Plugin } from 'esbuild';
import { Lexer, type Token, type Tokens } from 'marked';
import type { Block, DocEntry, DocPlace, Heading, Inline } from '../console/docs/doc.ts';

const ROOT = join(import.meta.dirname, '..');
/** The folders of `docs` whose pages users need. Decisions, benchmarks and reports are for contributors. */
const FOLDERS = ['', 'triggers', 'security', 'reference'];
/** For people who work on Windlass. */
const LEFT_OUT = new Set(['tour', 'extending']);

export type Doc = DocEntry & { blocks: Block[] };

/** All pages, in the order of the table of contents: guides by title, then the pages of folders. */
export async function consoleDocs(): Promise<Doc[]> {
  const folders = await Promise.all(FOLDERS.map(pagesIn));
  const known = new Set(folders.flat());
  const read = async (page: string) =>
    docOf(page, await readFile(join(ROOT, 'docs', `${page}.md`), 'utf8'), known);
  const docs = await Promise.all(folders.map((pages) => Promise.all(pages.map(read))));
  return docs.flatMap((each) => each.toSorted((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1)));
}

/** Readers look for "The console" at C. */
function sortKey({ title }: DocEntry): string {
  return title.toLowerCase().replace(/^the /, '');
}

async function pagesIn(folder: string): Promise<string[]> {
  const names = await readdir(join(ROOT, 'docs', folder));
  return names
    .filter((name) => name.endsWith('.md'))
    .map((name) => posix.join(folder, name.slice(0, -3)))
    .filter((page) => !LEFT_OUT.has(page));
}

/** The page of a Markdown text. `known`: the pages that links may lead to. */
export function docOf(page: string, markdown: string, known: ReadonlySet<string>): Doc {
  const reader = createReader(page, known);
  const blocks = reader.blocks(new Lexer({ gfm: true }).lex(markdown));
  const title = reader.headings.find(({ level }) => level === 1)?.text ?? page;
  return { page, title, headings: reader.headings.filter(({ level }) => level === 2 || level === 3), blocks };
}

type Reader = { headings: Heading[]; blocks: (tokens: readonly Token[]) => Block[] };

/** Reads the tokens of one page. Headings with the same text get numbers, as on GitHub. */
function createReader(page: string, known: ReadonlySet<string>): Reader {
  const headings: Heading[] = [];
  const used = new Map<string, number>();

  function headingOf({ depth, tokens }: Tokens.Heading): Block[] {
    const parts = inlineOf(tokens);
    const text = textOf(parts);
    const slug = slugOf(text);
    const times = used.get(slug) ?? 0;
    used.set(slug, times + 1);
    const id = times === 0 ? slug : `${slug}-${times}`;
    headings.push({ id, level: depth, text });
    return [{ kind: 'heading', level: depth, id, parts }];
  }

  function listOf({ ordered, start, items }: Tokens.List): Block[] {
    const first = ordered && typeof start === 'number' ? start : undefined;
    return [{ kind: 'list', start: first, items: items.map(({ tokens }) => blocks(tokens)) }];
  }

  function tableOf({ header, rows }: Tokens.Table): Block[] {
    const cells = (row: Tokens.TableCell[]) => row.map(({ tokens }) => inlineOf(tokens));
    return [{ kind: 'table', head: cells(header), rows: rows.map(cells) }];
  }

  const readers: Record<string, (token: never) => Block[]> = {
    space: () => [],
    heading: headingOf,
    paragraph: ({ tokens }: Tokens.Paragraph) => [{ kind: 'text', parts: inlineOf(tokens) }],
    text: ({ tokens, text }: Tokens.Text) => [{ kind: 'text', parts: tokens ? inlineOf(tokens) : [text] }],
    code: ({ text }: Tokens.Code) => [{ kind: 'code', text }],
    list: listOf,
    blockquote: ({ tokens }: Tokens.Blockquote) => [{ kind: 'quote', blocks: blocks(tokens) }],
    table: tableOf,
    hr: () => [{ kind: 'rule' }],
    html: ({ text }: Tokens.HTML) => [{ kind: 'text', parts: [text] }],
  };

  function blocks(tokens: readonly Token[]): Block[] {
    return tokens.flatMap((token) => {
      const read = readers[token.type];
      if (read === undefined) throw new Error(`docs/${page}.md: cannot show "${token.type}"`);
      return read(token as never);
    });
  }

  const inlineReaders: Record<string, (token: never) => Inline> = {
    text: ({ text }: Tokens.Text) => unescaped(text),
    escape: ({ text }: Tokens.Escape) => unescaped(text),
    html: ({ text }: Tokens.HTML) => text,
    codespan: ({ text }: Tokens.Codespan) => ({ kind: 'code', text }),
    strong: ({ tokens }: Tokens.Strong) => ({ kind: 'strong', parts: inlineOf(tokens) }),
    em: ({ tokens }: Tokens.Em) => ({ kind: 'em', parts: inlineOf(tokens) }),
    del: ({ tokens }: Tokens.Del) => ({ kind: 'del', parts: inlineOf(tokens) }),
    br: () => ({ kind: 'break' }),
    image: ({ text }: Tokens.Image) => text,
    link: ({ href, tokens }: Tokens.Link) => linkOf(href, inlineOf(tokens)),
  };

  function inlineOf(tokens: readonly Token[]): Inline[] {
    return tokens.map((token) => {
      const read = inlineReaders[token.type];
      if (read === undefined) throw new Error(`docs/${page}.md: cannot show "${token.type}"`);
      return read(token as never);
    });
  }

  function linkOf(href: string, parts: Inline[]): Inline {
    if (/^https?:\/\//.test(href)) return { kind: 'link', href, parts };
    const to = placeOf(page, href);
    return to !== undefined && known.has(to.page) ? { kind: 'doc', to, parts } : textOf(parts);
  }

  return { headings, blocks };
}

/** Where a relative link of a page leads; undefined if that is not a Markdown file of `docs`. */
export function placeOf(page: string, href: string): DocPlace | undefined {
  const [path = '', hash] = href.split('#', 2);
  const anchor = hash === undefined || hash === '' ? {} : { hash };
  if (path === '') return { page, ...anchor };
  const file = posix.join(posix.dirname(page), path);
  return file.endsWith('.md') && !file.startsWith('..') ? { page: file.slice(0, -3), ...anchor } : undefined;
}

/** The anchor of a heading, as GitHub makes it. */
export function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-');
}

export function textOf(parts: readonly Inline[]): string {
  return parts
    .map((part) => {
      if (typeof part === 'string') return part;
      if (part.kind === 'break') return ' ';
      return part.kind === 'code' ? part.text : textOf(part.parts);
    })
    .join('');
}

const ENTITIES: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
  nbsp: '\u00A0',
};

function unescaped(text: string): string {
  return text.replaceAll(/&(amp|lt|gt|quot|#39|nbsp);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}

const NAME = 'windlass:docs';

/** `windlass:docs`: the version and the table of contents, whose entries load their page. */
export const docsPlugin: Plugin = {
  name: 'docs',
  setup: (bundling) => {
    let read: Promise<Doc[]> | undefined;
    const docs = () => (read ??= consoleDocs());
    bundling.onStart(() => void (read = undefined));
    bundling.onResolve({ filter: /^windlass:docs(\/.*)?$/ }, ({ path }) => ({ path, namespace: 'docs' }));
    bundling.onLoad({ filter: /.*/, namespace: 'docs' }, async ({ path }) => ({
      contents: path === NAME ? indexOf(await docs(), await version()) : pageOf(await docs(), path),
      loader: 'js',
    }));
  },
};

function indexOf(docs: readonly Doc[], number: string): string {
  const entries = docs.map(({ page, title, headings }) => {
    const data = JSON.stringify({ page, title, headings });
    return `{ ...${data}, load: () => import(${JSON.stringify(`${NAME}/${page}`)}) }`;
  });
  return `export const version = ${JSON.stringify(number)};\nexport const docs = [${entries.join(',\n')}];`;
}

function pageOf(docs: readonly Doc[], path: string): string {
  const doc = docs.find(({ page }) => `${NAME}/${page}` === path);
  return `export const blocks = JSON.parse(${JSON.stringify(JSON.stringify(doc?.blocks ?? []))});`;
}

async function version(): Promise<string> {
  const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  return manifest.version;
}
