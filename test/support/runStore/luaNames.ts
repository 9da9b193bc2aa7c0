/**
 * Which names a piece of Lua uses that nothing declares before, and whether fragments need and give what they
 * say.
 */
import type { LuaSource, LuaSources } from './luaSources.ts';

const BUILT_IN = new Set(
  `and break do else elseif end false for function if in local nil not or repeat return then true until while
  redis math string table pcall tonumber tostring unpack ipairs pairs KEYS ARGV`.split(/\s+/),
);

const TOKEN = /«(\w+)»|--[^\n]*|'[^'\n]*'|"[^"\n]*"|[.:]?[A-Za-z_]\w*|[0-9.]+|[^\s]/g;

/** Names that a script has from its declaration. */
export function declaredNames({ keys, args, lists }: LuaSource): string[] {
  const ofLists = Object.keys(lists).flatMap((name) => [
    name,
    `unpack_${name}`,
    `${name}_first`,
    `keys_of_${name}`,
    `${name}_count`,
  ]);
  return [...keys, ...args, ...ofLists];
}

export type Names = {
  /** Names that are used and not declared before. */
  unknown: string[];
  /** All names that are used, or that a fragment in it needs. */
  used: Set<string>;
  /** Names that are declared after it. */
  declared: ReadonlySet<string>;
};

type Token = { token: string; fragment: string | undefined };

const isName = (token = '') => /^[A-Za-z_]/.test(token) && !BUILT_IN.has(token);

/** The names of a list, and where it ends. */
function listAt(tokens: readonly Token[], at: number): { names: string[]; end: number } {
  const names: string[] = [];
  let end = at;
  while (isName(tokens[end]?.token)) {
    names.push(tokens[end]?.token ?? '');
    end += tokens[end + 1]?.token === ',' ? 2 : 1;
    if (tokens[end - 1]?.token !== ',') break;
  }
  return { names, end };
}

/** Scopes of a piece of Lua while it is read. */
function createScopes(before: readonly string[]) {
  const scopes = [new Set(before)];
  const unknown: string[] = [];
  const used = new Set<string>();
  return {
    unknown,
    used,
    open: (names: readonly string[]) => void scopes.push(new Set(names)),
    close: () => void scopes.pop(),
    declare: (names: readonly string[]) => names.forEach((name) => scopes.at(-1)?.add(name)),
    use: (name: string) => {
      used.add(name);
      if (!scopes.some((scope) => scope.has(name))) unknown.push(name);
    },
    declared: () => scopes[0] ?? new Set<string>(),
  };
}

const OPENS = new Set(['do', 'then', 'repeat', 'else']);
const CLOSES = new Set(['end', 'until', 'elseif', 'else']);

/** Reads a piece of Lua with these names declared before. */
export function namesOf(
  source: LuaSource,
  before: readonly string[],
  fragments: LuaSources['fragments'],
): Names {
  const text = source.pieces.map((piece) => ('text' in piece ? piece.text : `«${piece.fragment}»`)).join('');
  const tokens = [...text.matchAll(TOKEN)].map(([token, fragment]): Token => ({ token, fragment }));
  const scopes = createScopes(before);
  /** The names of a `for`, which are declared in its body. */
  let loop: string[] = [];
  /** Reads what begins at a token, and answers where the next begins. */
  const read = (at: number): number => {
    const { token = '', fragment } = tokens[at] ?? {};
    if (fragment !== undefined) return readFragment(fragment, at + 1);
    if (token === 'function') return readFunction(at + 1);
    if (token === 'for' || (token === 'local' && tokens[at + 1]?.token !== 'function')) {
      const { names, end } = listAt(tokens, at + 1);
      if (token === 'for') loop = names;
      else scopes.declare(names);
      return end;
    }
    if (CLOSES.has(token)) scopes.close();
    if (OPENS.has(token)) {
      scopes.open(loop);
      loop = [];
    }
    if (isName(token)) scopes.use(token);
    return at + 1;
  };
  const readFragment = (name: string, next: number): number => {
    const { needs = [], gives = [] } = fragments.get(name) ?? {};
    needs.forEach(scopes.use);
    scopes.declare(gives);
    return next;
  };
  const readFunction = (at: number): number => {
    const isNamed = tokens[at]?.token !== '(';
    if (isNamed) scopes.declare([tokens[at]?.token ?? '']);
    const { names, end } = listAt(tokens, isNamed ? at + 2 : at + 1);
    scopes.open(names);
    return end;
  };
  for (let at = 0; at < tokens.length; at = read(at));
  return { unknown: scopes.unknown, used: scopes.used, declared: scopes.declared() };
}
