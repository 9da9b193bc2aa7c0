/**
 * The Lua scripts of the run store: each is one transition, atomic, and names every key that it touches, so that
 * accounts, proxies and clusters can tell what it may do.
 */
import { createHash } from 'node:crypto';
import type { ProjectKey } from './keys.ts';

/** A key of the project by its name, or one of a run, workflow, credential or event key, or of a kind of question, that the call itself brings. */
export type DeclaredKey =
  | ProjectKey
  | 'wf'
  | 'run'
  | 'ev'
  | 'dk'
  | 'runs'
  | 'done'
  | 'lines'
  | 'reply'
  | 'questions'
  | 'question'
  | 'poll'
  | 'kept'
  | 'secret'
  | 'codes'
  | 'made';

export type Script = {
  readonly lua: string;
  readonly sha: string;
  /** The names of `KEYS`, in order; each is a local of the script by that name. Further keys may follow. */
  readonly keys: readonly DeclaredKey[];
};

type ScriptSource = {
  /** `drains`: also runs when the memory is full, because it leads to less of it. */
  flags?: 'drains' | 'reads';
  keys: readonly DeclaredKey[];
  /** The names of the first of `ARGV`; each is a local of the script by that name. */
  args?: readonly string[];
  body: string;
};

const FLAGS = { drains: ' flags=allow-oom', reads: ' flags=no-writes,allow-oom', none: '' };

/** A script with its keys and arguments as locals. */
export function defineScript({ flags, keys, args = [], body }: ScriptSource): Script {
  const lua = [
    `#!lua${FLAGS[flags ?? 'none']}`,
    locals(keys, 'KEYS'),
    locals(args, 'ARGV'),
    body.replaceAll(/^ +| *--.*$/gm, '').replaceAll(/\n{2,}/g, '\n'),
  ].join('\n');
  return { lua, sha: createHash('sha1').update(lua).digest('hex'), keys };
}

function locals(names: readonly string[], from: 'KEYS' | 'ARGV'): string {
  if (names.length === 0) return '';
  return `local ${names.join(', ')} = ${names.map((_, index) => `${from}[${index + 1}]`).join(', ')}`;
}
