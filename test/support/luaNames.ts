/**
 * Which names a piece of Lua uses that nothing declares before, and whether fragments need and give what they
 * say.
 */
import type { LuaSource, LuaSources } from './luaSources.ts';

const BUILT_IN = new Set(
  `and break do else elseif end false for function if in local nil not or repeat return then true until while
  redis math string table tonumber tostring unpack ipairs pairs KEYS ARGV`.split(/\s+/),
);

const TOKEN = /\u0001(\w+)\u0001|--[^\n]*|'[^'\n]*'|"[^"\n]*"|[.:]?[A-Za-z_]\w*|[0-9.]+|[^\s]/g;

/** Names that a script has from its declaration. */
export function declaredNames({ keys, args, lists }: LuaSource): string[] {
  const ofLists = Object.keys(lists).flatMap((name) => [
    name,
    `unpack_${name}`,
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

/** Reads a piece of Lua with these names declared before. */
export function namesOf(
  source: LuaSource,
  before: readonly string[],
  fragments: LuaSources['fragments'],
): Names {
  const text = source.pieces
    .map((piece) => ('text' in piece ? piece.text : `\u0001${piece.fragment}\u0001`))
    .join('');
  const scopes = [new Set(before)];
  const unknown: string[] = [];
  const used = new Set<string>();
  let next: string[] = [];
  const declare = (name: string) => scopes.at(-1)?.add(name);
  const use = (name: string) => {
    used.add(name);
    if (!scopes.some((scope) => scope.has(name))) unknown.push(name);
  };
  const tokens = [...text.matchAll(TOKEN)].map(([token, fragment]) => ({ token, fragment }));
  /** The names of a list, and where it ends. */
  const namesFrom = (at: number): [string[], number] => {
    const names: string[] = [];
    let end = at;
    while (/^[A-Za-z_,]/.test(tokens[end]?.token ?? '') && !BUILT_IN.has(tokens[end]?.token ?? '')) {
      if (tokens[end]?.token !== ',') names.push(tokens[end]?.token ?? '');
      end += 1;
      if (tokens[end]?.token !== ',' && tokens[end - 1]?.token !== ',') break;
    }
    return [names, end];
  };
  for (let at = 0; at < tokens.length; at += 1) {
    const { token = '', fragment } = tokens[at] ?? {};
    if (fragment !== undefined) {
      const { needs = [], gives = [] } = fragments.get(fragment) ?? {};
      needs.forEach(use);
      gives.forEach(declare);
    } else if (token === 'local' && tokens[at + 1]?.token !== 'function') {
      const [names, end] = namesFrom(at + 1);
      names.forEach(declare);
      at = end - 1;
    } else if (token === 'for') {
      const [names, end] = namesFrom(at + 1);
      next = names;
      at = end - 1;
    } else if (token === 'function') {
      let start = at + 1;
      if (tokens[start]?.token !== '(') declare(tokens[start++]?.token ?? '');
      const [names, end] = namesFrom(start + 1);
      scopes.push(new Set(names));
      at = end - 1;
    } else if (token === 'do' || token === 'then' || token === 'repeat' || token === 'else') {
      if (token === 'else') scopes.pop();
      scopes.push(new Set(next));
      next = [];
    } else if (token === 'end' || token === 'until' || token === 'elseif') scopes.pop();
    else if (/^[A-Za-z_]/.test(token) && !BUILT_IN.has(token)) use(token);
  }
  return { unknown, used, declared: scopes[0] ?? new Set() };
}
