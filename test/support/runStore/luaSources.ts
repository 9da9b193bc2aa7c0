/** The Lua scripts and fragments of `store/` and `runs/`, read from their TypeScript. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A piece of Lua: text, or the name of a fragment. */
type Piece = { text: string } | { fragment: string };

export type LuaSource = {
  file: string;
  name: string;
  pieces: Piece[];
  /** Of a fragment. */
  needs: string[];
  gives: string[];
  /** Of a script. */
  keys: string[];
  args: string[];
  lists: Record<string, { args: string[]; keys: string[] }>;
  transitions: string[];
  /** The answers that are words; undefined where the answer is described as a whole. */
  answers: string[] | undefined;
};

export type LuaSources = { fragments: Map<string, LuaSource>; scripts: LuaSource[] };

const ROOT = join(import.meta.dirname, '../../..');

export function readLuaSources(): LuaSources {
  const files = ['store', 'runs'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .map((file) => ({ file: join(folder, file), text: readFileSync(join(ROOT, folder, file), 'utf8') })),
  );
  const lists = new Map(
    files.flatMap(({ text }) =>
      [...text.matchAll(/const (\w+) = (\[[^\]]*\]) as const/g)].map(
        ([, name = '', list = '']) => [name, list] as const,
      ),
    ),
  );
  const definitions = files.flatMap(({ file, text }) =>
    [...text.matchAll(/const (\w+) = (defineScript|defineFragment)\((?=\{)/g)].map((match) => ({
      file,
      name: match[1] ?? '',
      isScript: match[2] === 'defineScript',
      fields: fieldsOf(text.slice(match.index + match[0].length)),
    })),
  );
  const fragments = new Set(definitions.filter(({ isScript }) => !isScript).map(({ name }) => name));
  const sources = definitions.map((definition) => ({
    ...definition,
    source: sourceOf(definition, lists, fragments),
  }));
  return {
    scripts: sources.filter(({ isScript }) => isScript).map(({ source }) => source),
    fragments: new Map(sources.filter(({ isScript }) => !isScript).map(({ name, source }) => [name, source])),
  };
}

function sourceOf(
  { file, name, fields }: { file: string; name: string; fields: Map<string, string> },
  constants: ReadonlyMap<string, string>,
  fragments: ReadonlySet<string>,
): LuaSource {
  const texts = (field: string) => textsOf(fields.get(field), constants);
  const lists = [...fieldsOf(fields.get('lists') ?? '{}')].map(([list, shape]) => {
    const row = fieldsOf(shape);
    return [
      list,
      { args: textsOf(row.get('args'), constants), keys: textsOf(row.get('keys'), constants) },
    ] as const;
  });
  const answers = fields.get('answers');
  return {
    file,
    name,
    pieces: piecesOf(fields.get('body') ?? fields.get('lua') ?? '', fragments, constants),
    needs: texts('needs'),
    gives: texts('gives'),
    keys: [...texts('keys'), ...texts('optionalKeys')],
    args: texts('args'),
    lists: Object.fromEntries(lists),
    transitions: texts('transitions'),
    answers: answers?.startsWith('{') ? [...fieldsOf(answers).keys()] : undefined,
  };
}

/** What cannot be divided: a comment, a text, or a template with all that it contains. */
function endOfUnit(text: string, at: number): number {
  const rest = text.slice(at);
  const simple = /^(?:\/\/[^\n]*|\/\*[\s\S]*?\*\/|'[^'\n]*'|"[^"\n]*")/.exec(rest);
  if (simple) return at + simple[0].length;
  if (text[at] !== '`') return at + 1;
  let end = at + 1;
  while (text[end] !== '`') end = text.startsWith('${', end) ? endOfBraces(text, end + 1) : end + 1;
  return end + 1;
}

/** Where the braces or brackets that open there are closed. */
function endOfBraces(text: string, at: number): number {
  let depth = 0;
  let end = at;
  do {
    if (/[{[(]/.test(text[end] ?? '')) depth += 1;
    if (/[}\])]/.test(text[end] ?? '')) depth -= 1;
    end = endOfUnit(text, end);
  } while (depth > 0);
  return end;
}

/** The fields of the object that the text begins with, as text. */
function fieldsOf(text: string): Map<string, string> {
  const fields = new Map<string, string>();
  const end = endOfBraces(text, 0) - 1;
  let start = 1;
  for (let at = 1; at <= end; ) {
    if (at === end || text[at] === ',') {
      const field = /^(?:\s|\/\/[^\n]*)*(?:(\w+)|'([^']+)'): ([\s\S]*)$/.exec(text.slice(start, at));
      if (field) fields.set(field[1] ?? field[2] ?? '', field[3]?.trim() ?? '');
      start = at + 1;
    }
    at = /[{[(]/.test(text[at] ?? '') ? endOfBraces(text, at) : endOfUnit(text, at);
  }
  return fields;
}

/** The texts of an array, with those of the constants that it spreads. */
function textsOf(array: string | undefined, constants: ReadonlyMap<string, string>): string[] {
  const parts = array?.replaceAll(/\/\/[^\n]*/g, '').matchAll(/'([^']+)'|(?<!\.)\.\.\.(\w+)/g) ?? [];
  return [...parts].flatMap(([, text, spread]) => text ?? textsOf(constants.get(spread ?? ''), constants));
}

/** The pieces of a template. Constants that it joins stand in it as text, other values as 0. */
function piecesOf(
  template: string,
  fragments: ReadonlySet<string>,
  constants: ReadonlyMap<string, string>,
): Piece[] {
  const pieces: Piece[] = [];
  let start = 1;
  for (let at = 1; at < template.length; at += 1) {
    const isPlaceholder = template.startsWith('${', at);
    if (!isPlaceholder && at < template.length - 1) continue;
    pieces.push({ text: template.slice(start, at) });
    if (!isPlaceholder) break;
    start = endOfBraces(template, at + 1);
    const name = template.slice(at + 2, start - 1);
    const [, list = '', separator = ''] = /^(\w+)\.join\('([^']*)'\)$/.exec(name) ?? [];
    const joined = textsOf(constants.get(list), constants).join(separator);
    pieces.push(fragments.has(name) ? { fragment: name } : { text: joined || '0' });
    at = start - 1;
  }
  return pieces;
}

/** The whole text of a script, with its fragments. */
export function expanded({ pieces }: LuaSource, fragments: LuaSources['fragments']): string {
  return pieces
    .map((piece) => {
      if ('text' in piece) return piece.text;
      const fragment = fragments.get(piece.fragment);
      return fragment ? expanded(fragment, fragments) : '';
    })
    .join('')
    .replaceAll(/--.*$/gm, '');
}
