/**
 * Defines the Lua scripts of the run store. A script is one atomic transition. It declares every key that it
 * uses, so that accounts, proxies and clusters can tell what it may access, and it reads keys, arguments and
 * lists by name.
 */
import { createHash } from 'node:crypto';
import type { KeyName } from './keys.ts';

/**
 * The states of a run, as the diagram in docs/execution.md has them. `none`: the run store does not have the
 * run.
 */
export type RunPlace = 'none' | 'ready' | 'overLimit' | 'claimed' | 'parked' | 'ended';

/** A move of a run from one state to another. */
type Transition = `${RunPlace} > ${RunPlace}`;

/**
 * Rows of variable number: each has these arguments, and these keys. Only the last list of a script may have
 * keys.
 */
type List = { readonly args?: readonly string[]; readonly keys?: readonly string[] };

/** `Arg`, `List`: the names of its arguments and lists. */
export type Script<Arg extends string = string, ListName extends string = string> = {
  readonly lua: string;
  readonly sha: string;
  /** The names of `KEYS`, in order. Each is a local of the script. The keys of a list follow. */
  readonly keys: readonly KeyName[];
  /** The first of `keys`, without those that a caller may leave out. */
  readonly requiredKeys: readonly KeyName[];
  readonly args: readonly Arg[];
  readonly lists: Readonly<Record<ListName, List>>;
  readonly transitions: readonly Transition[];
};

type ScriptSource<Arg extends string, ListName extends string> = {
  /**
   * `drains`: also runs when the memory is full, because it frees memory in the end. `reads`: writes nothing.
   */
  flags?: 'drains' | 'reads';
  /** Which moves of runs the script makes. */
  transitions?: readonly Transition[];
  keys: readonly KeyName[];
  /** Further keys, which a caller may leave out, all together, where no list has keys. Nil where left out. */
  optionalKeys?: readonly KeyName[];
  /** The names of the first of `ARGV`. Each is a local of the script. */
  args?: readonly Arg[];
  /**
   * The rows after the arguments. Of a list `rows` with the arguments `a`, `b` and the key `k` the script
   * has:
   * - `for index, a, b, k in rows() do`
   * - `unpack_rows()`: all arguments of all rows
   * - `keys_of_rows(index)`: the keys of one row
   */
  lists?: Readonly<Record<ListName, List>>;
  /**
   * What the script answers, and when. For readers; a unit test compares the words with those in the body.
   */
  answers?: string | Readonly<Record<string, string>>;
  body: string;
};

const FLAGS = { drains: ' flags=allow-oom', reads: ' flags=no-writes,allow-oom', none: '' };

/** Defines a script. Its keys and arguments are locals. */
export function defineScript<const Arg extends string = never, const ListName extends string = never>({
  flags,
  transitions = [],
  keys: required,
  optionalKeys = [],
  args = [],
  lists,
  body,
}: ScriptSource<Arg, ListName>): Script<Arg, ListName> {
  const keys = [...required, ...optionalKeys];
  const shapes: Record<string, List> = lists ?? {};
  const code = withoutComments(body);
  const loops = Object.entries(shapes).reduce(
    (text, [name, list]) => withLoops(text, name, list, keys.length),
    code,
  );
  const lua = [
    `#!lua${FLAGS[flags ?? 'none']}`,
    locals(keys, 'KEYS'),
    locals(countsOf(shapes).length > 0 ? [...args, 'counts'] : args, 'ARGV'),
    ...countLocals(shapes),
    ...listLocals(shapes, code, { keys: keys.length, args: args.length }),
    loops,
  ].join('\n');
  return {
    lua,
    sha: createHash('sha1').update(lua).digest('hex'),
    keys,
    requiredKeys: required,
    args,
    lists: shapes as Record<ListName, List>,
    transitions,
  };
}

/**
 * A piece of Lua that several scripts use, as text. `needs`: locals that the script has before it. `gives`:
 * locals that it has after it.
 */
export function defineFragment({
  lua,
}: {
  needs?: readonly string[];
  gives?: readonly string[];
  lua: string;
}): string {
  return lua;
}

type Argument = string | number;
type Rows = readonly (readonly Argument[])[];

/**
 * `ARGV` of a script: its arguments by name, and its lists by name, each row with the list's arguments in
 * order.
 */
export function argumentsOf<Arg extends string, ListName extends string>(
  { args, lists }: Script<Arg, ListName>,
  values: Readonly<Record<NoInfer<Arg>, Argument> & Record<NoInfer<ListName>, Rows>>,
): Argument[] {
  const all: Argument[] = args.map((name) => values[name]);
  const rows = Object.keys(lists).map((name) => values[name as ListName]);
  if (rows.length > 1) all.push(rows.some(isNotEmpty) ? countsText(rows) : '');
  for (const list of rows) for (const row of list) for (const value of row) all.push(value);
  return all;
}

/** Whether the list has rows and is not the last one. */
function isNotEmpty(list: Rows, index: number, { length }: { length: number }): boolean {
  return list.length > 0 && index < length - 1;
}

function countsText(lists: readonly Rows[]): string {
  return lists
    .slice(0, -1)
    .map(({ length }) => length)
    .join(',');
}

function withoutComments(lua: string): string {
  return lua.replaceAll(/^ +| *--.*$/gm, '').replaceAll(/\n{2,}/g, '\n');
}

function locals(names: readonly string[], from: 'KEYS' | 'ARGV'): string {
  if (names.length === 0) return '';
  return `local ${names.join(', ')} = ${names.map((_, index) => `${from}[${index + 1}]`).join(', ')}`;
}

/** How many rows each list has but the last, which goes to the end of `ARGV`. */
function countsOf(lists: Record<string, List>): string[] {
  return Object.keys(lists)
    .slice(0, -1)
    .map((name) => `${name}_count`);
}

/** The counts are one argument, empty where all are 0: most calls have rows in the last list only. */
function countLocals(lists: Record<string, List>): string[] {
  const names = countsOf(lists);
  if (names.length === 0) return [];
  const pattern = names.map(() => '(%d+)').join(',');
  return [
    `local ${names.join(', ')} = ${names.map(() => '0').join(', ')}`,
    `if counts ~= '' then ${names.join(', ')} = string.match(counts, '^${pattern}$') end`,
  ];
}

/**
 * Loops over the rows of a list as numeric loops: iterators would be functions that each call of the script
 * makes, and scripts run for each step of a run.
 */
function withLoops(lua: string, name: string, { args = [], keys = [] }: List, keyCount: number): string {
  return lua.replaceAll(new RegExp(`for ([\\w, ]+) in ${name}\\(\\) do`, 'g'), (_, variables: string) => {
    const at = `${name}_at`;
    const values = [
      `(${at} - ${name}_first) / ${args.length} + 1`,
      ...args.map((_arg, index) => (index === 0 ? `ARGV[${at}]` : `ARGV[${at} + ${index}]`)),
      ...keys.map((_key, index) => {
        const before = `(${at} - ${name}_first) / ${args.length} * ${keys.length}`;
        return `KEYS[${before} + ${keyCount + 1 + index}]`;
      }),
    ].slice(0, variables.split(',').length);
    return `for ${at} = ${name}_first, ${name}_last, ${args.length} do local ${variables} = ${values.join(', ')}`;
  });
}

/** What the body uses of each list. */
function listLocals(
  lists: Record<string, List>,
  body: string,
  { keys, args }: { keys: number; args: number },
): string[] {
  let first = String(args + (countsOf(lists).length > 0 ? 1 : 0) + 1);
  return Object.entries(lists).map(([name, list], index, { length }) => {
    const width = list.args?.length ?? 0;
    const last = index < length - 1 ? `${first} + ${width} * ${name}_count - 1` : '#ARGV';
    const rowKeys = (list.keys ?? []).map(
      (_, at) => `KEYS[${keys + 1 + at} + (index - 1) * ${list.keys?.length}]`,
    );
    const lua = [`local ${name}_first, ${name}_last = ${first}, ${last}`];
    if (body.includes(`unpack_${name}()`))
      lua.push(`local function unpack_${name}() return unpack(ARGV, ${name}_first, ${name}_last) end`);
    if (body.includes(`keys_of_${name}(`))
      lua.push(`local function keys_of_${name}(index) return ${rowKeys.join(', ')} end`);
    first = `${name}_last + 1`;
    return lua.join('\n');
  });
}
