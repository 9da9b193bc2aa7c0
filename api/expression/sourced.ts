/**
 * Evaluated values that distinguish the author's text from the values of references. For values that another
 * program parses again: code that assembles such a value knows which characters are data.
 */
import { printReference, type Reference } from './reference.ts';
import type { Scope } from './scope.ts';
import { resolve, toText } from './evaluate.ts';
import type { CompiledValue } from './template.ts';

/** The value of one reference. `reference` is its text, for messages. */
export type Given = { reference: string; value: unknown };

export type SourcedValue =
  | { kind: 'literal'; value: unknown }
  | ({ kind: 'reference' } & Given)
  | { kind: 'text'; parts: readonly (string | Given)[] }
  | { kind: 'list'; items: readonly SourcedValue[] }
  | { kind: 'object'; entries: readonly (readonly [string, SourcedValue])[] };

/**
 * The value with the values of its references. Unlike `evaluate` it does not bound the size: evaluate the
 * same value first.
 * @throws MissingValueError for a value that does not exist
 */
export function evaluateSourced(compiled: CompiledValue, scope: Scope): SourcedValue {
  switch (compiled.kind) {
    case 'literal':
      return compiled;
    case 'reference':
      return { kind: 'reference', ...givenBy(compiled.reference, scope) };
    case 'text':
      return {
        kind: 'text',
        parts: compiled.parts.map((part) => (typeof part === 'string' ? part : givenBy(part, scope))),
      };
    case 'list':
      return { kind: 'list', items: compiled.items.map((item) => evaluateSourced(item, scope)) };
    case 'object':
      return {
        kind: 'object',
        entries: compiled.entries.map(([key, value]) => [key, evaluateSourced(value, scope)] as const),
      };
  }
}

function givenBy(reference: Reference, scope: Scope): Given {
  return { reference: printReference(reference), value: resolve(reference, scope) };
}

/** The same value without its sources, as `evaluate` returns it. */
export function plainOf(given: SourcedValue): unknown {
  switch (given.kind) {
    case 'literal':
    case 'reference':
      return given.value;
    case 'text':
      return given.parts.map((part) => (typeof part === 'string' ? part : toText(part.value))).join('');
    case 'list':
      return given.items.map(plainOf);
    case 'object':
      return Object.fromEntries(given.entries.map(([key, value]) => [key, plainOf(value)]));
  }
}
