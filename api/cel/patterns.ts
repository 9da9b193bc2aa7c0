/**
 * Regular expressions with RE2 syntax, which take time linear in the text: `matches`, and `regex` of cel-go.
 * Throws only `ExpressionError`.
 */
import { RE2JS, RE2JSSyntaxException } from 're2js';
import { ExpressionError } from '../expression/errors.ts';

const PATTERN_LENGTH = 512;
const CACHED = 100;

/** Compiled patterns, the oldest first. A pattern in a loop is compiled once. */
const cache = new Map<string, RE2JS>();

function compile(pattern: string): RE2JS {
  const known = cache.get(pattern);
  if (known) return known;
  if (pattern.length > PATTERN_LENGTH)
    throw new ExpressionError('Limit', `a pattern must have at most ${PATTERN_LENGTH} characters`);
  const compiled = parse(pattern);
  const [oldest] = cache.keys();
  if (cache.size >= CACHED && oldest !== undefined) cache.delete(oldest);
  cache.set(pattern, compiled);
  return compiled;
}

function parse(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    throw new ExpressionError(
      'Type',
      'a pattern is not valid in RE2 syntax, which has no backreferences, lookahead or lookbehind',
    );
  }
}

/** Characters of text times instructions of the pattern that are matched in one step. */
const MATCHED_PER_STEP = 8;
const COMPILE_STEPS = 1_000;

/** The steps of one match. @throws ExpressionError if the pattern is invalid */
export function matchPrice(text: unknown, pattern: unknown): number {
  if (typeof text !== 'string' || typeof pattern !== 'string') return 0;
  const steps = cache.has(pattern) ? 0 : COMPILE_STEPS;
  return steps + (text.length * compile(pattern).programSize()) / MATCHED_PER_STEP;
}

/** Whether a part of the text matches. */
export function matches(text: string, pattern: string): boolean {
  return compile(pattern).matcher(text).find();
}

/** Every match: its first group, or all of it if the pattern has no group. */
export function extractAll(text: string, pattern: string): string[] {
  const compiled = compile(pattern);
  if (compiled.groupCount() > 1)
    throw new ExpressionError('Type', 'a pattern to extract must have at most one group');
  const matcher = compiled.matcher(text);
  const group = compiled.groupCount();
  const found: string[] = [];
  while (matcher.find()) {
    const part = matcher.group(group);
    if (part !== null) found.push(part);
  }
  return found;
}

/** The first match, as `extractAll` yields it; undefined if there is none. */
export function extract(text: string, pattern: string): string | undefined {
  const compiled = compile(pattern);
  if (compiled.groupCount() > 1)
    throw new ExpressionError('Type', 'a pattern to extract must have at most one group');
  const matcher = compiled.matcher(text);
  return matcher.find() ? (matcher.group(compiled.groupCount()) ?? undefined) : undefined;
}

/** The text with matches replaced; `\1` in the replacement is the first group. `limit` below 0: all. */
export function replaceMatches(text: string, pattern: string, replacement: string, limit = -1): string {
  const compiled = compile(pattern);
  const matcher = compiled.matcher(text);
  let result = '';
  let end = 0;
  for (let count = 0; count !== limit && matcher.find(); count += 1) {
    result +=
      text.slice(end, matcher.start()) + expand(replacement, compiled, (group) => matcher.group(group));
    end = matcher.end();
    if (result.length > REPLACED_LENGTH) throw tooLong();
  }
  return result + text.slice(end);
}

/** Longer texts are refused while they are made: a replacement can be as long as the text. */
const REPLACED_LENGTH = 1_048_576;

function tooLong(): ExpressionError {
  return new ExpressionError('Limit', `a text must have at most ${REPLACED_LENGTH} characters`);
}

function expand(replacement: string, compiled: RE2JS, group: (index: number) => string | null): string {
  return replacement.replaceAll(/\\(.?)/gs, (_, character: string) => {
    if (character === '\\') return '\\';
    const index = Number(character);
    if (character !== '' && Number.isInteger(index) && index <= compiled.groupCount())
      return group(index) ?? '';
    throw new ExpressionError('Type', String.raw`a replacement refers to groups of the pattern as \0 to \9`);
  });
}
