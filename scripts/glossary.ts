/**
 * Finds words that `docs/glossary.json` replaces: in identifiers (also within camelCase), comments, strings,
 * file names and documentation.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A place where a word is legitimate. Without `path`: everywhere. Without `phrase`: whatever stands around
 * it.
 */
type Exception = { path?: string; phrase?: string; reason: string };

/** Forms of one word or phrase, in lower case, and the term of the glossary. */
export type Term = { words: readonly string[]; use: string; allow?: readonly Exception[] };

export type Glossary = {
  /** Paths that are not checked, each with its reason: generated files, the glossary. */
  excluded: readonly { path: string; reason: string }[];
  /** Paths that are still being reworded: their findings are counted and do not fail. */
  pending: readonly string[];
  terms: readonly Term[];
};

/** `line` 0: the file name. */
export type Finding = { path: string; line: number; word: string; use: string };

type Token = { text: string; line: number };

const TEXT_FILES = /\.(?:css|html|json|lua|md|mjs|sh|toml|tpl|tsx?|txt|ya?ml)$/;
const WORD = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g;

/** The glossary of the repository. */
export function readGlossary(root: string): Glossary {
  return JSON.parse(readFileSync(join(root, 'docs/glossary.json'), 'utf8')) as Glossary;
}

/** The words of a text, in lower case. `runStore`, `RUN_STORE` and `run store` give the same words. */
function tokensOf(text: string, firstLine: number): Token[] {
  return text
    .split('\n')
    .flatMap((line, index) =>
      [...line.matchAll(WORD)].map(([word]) => ({ text: word.toLowerCase(), line: firstLine + index })),
    );
}

/** Where the words of a phrase follow one another, as indexes of their first word. */
function placesOf(phrase: string, tokens: readonly Token[], byWord: Map<string, number[]>): number[] {
  const words = phrase.split(' ');
  const starts = byWord.get(words[0] ?? '') ?? [];
  return starts.filter((start) => words.every((word, offset) => tokens[start + offset]?.text === word));
}

/** Every place where the file uses a replaced word that is not legitimate there. */
export function findTerms(path: string, text: string, terms: readonly Term[]): Finding[] {
  const tokens = [...tokensOf(path.split('/').at(-1) ?? '', 0), ...tokensOf(text, 1)];
  const byWord = new Map<string, number[]>();
  for (const [index, token] of tokens.entries())
    byWord.set(token.text, [...(byWord.get(token.text) ?? []), index]);
  const findings = terms.flatMap(({ words, use, allow = [] }) => {
    const exceptions = allow.filter((each) => path.startsWith(each.path ?? ''));
    if (exceptions.some(({ phrase }) => phrase === undefined)) return [];
    const allowed = new Set(
      exceptions.flatMap(({ phrase = '' }) =>
        placesOf(phrase, tokens, byWord).flatMap((start) => phrase.split(' ').map((_, at) => start + at)),
      ),
    );
    return words.flatMap((word) =>
      placesOf(word, tokens, byWord)
        .filter((start) => !allowed.has(start))
        .map((start) => ({ path, line: tokens[start]?.line ?? 0, word, use })),
    );
  });
  return findings.toSorted((a, b) => a.line - b.line);
}

/** Whether the glossary covers the file. */
export function isCovered(path: string, { excluded }: Glossary): boolean {
  return TEXT_FILES.test(path) && !excluded.some((each) => path.startsWith(each.path));
}

/** One line for people. */
export function describeFinding({ path, line, word, use }: Finding): string {
  return line === 0
    ? `${path}: the file name has "${word}": use ${use}`
    : `${path}:${line}: "${word}": use ${use}`;
}
