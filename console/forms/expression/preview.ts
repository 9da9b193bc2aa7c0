/** What an expression yields with the outputs of the last run, in words; and what is wrong with it, in the words of the parser. */
import { ExpressionError, MissingValueError } from '../../../api/expression/errors.ts';
import { evaluate, toText } from '../../../api/expression/evaluate.ts';
import type { Scope } from '../../../api/expression/scope.ts';
import { compileValue, referencesOf, type CompiledValue } from '../../../api/expression/template.ts';
import { typeLabel, type Sources } from '../source.ts';

export type Preview =
  /** Nothing to say: there is no reference in it. */
  | { kind: 'plain' }
  /** It cannot be used yet, and somebody is writing it. */
  | { kind: 'unfinished'; message: string }
  | { kind: 'value'; text: string; type: string }
  /** What it names has produced nothing yet. */
  | { kind: 'unknown'; nodes: string[] }
  /** It cannot be used: not written well, or it names what may not be named. */
  | { kind: 'wrong'; message: string }
  /** Well written, but with the last outputs it would fail. */
  | { kind: 'missing'; message: string };

const LONGEST = 2_000;

/** The scope of the last outputs. */
export function scopeOf({ nodes, element }: Sources): Scope {
  return {
    node: (id) => {
      const source = nodes.find((each) => each.id === id);
      return source?.isReal === true ? source.output : undefined;
    },
    ...(element?.isReal === true && { item: element.item, index: 0 }),
  };
}

/** The preview of a value of a parameter: a text, or JSON with texts in it. */
export function previewOf(value: unknown, sources: Sources): Preview {
  try {
    const compiled = compileValue(value);
    if (referencesOf(compiled).length === 0) return { kind: 'plain' };
    return (
      strangerIn(compiled, sources) ??
      unknownIn(compiled, sources) ??
      valueOf(evaluate(compiled, scopeOf(sources)))
    );
  } catch (error) {
    return problemOf(error);
  }
}

/** A value as the preview shows it. */
export function valueOf(value: unknown): Preview {
  const text = toText(value);
  return {
    kind: 'value',
    text: text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text,
    type: typeLabel(value),
  };
}

/** What was thrown, as the preview shows it. */
export function problemOf(error: unknown): Preview {
  if (error instanceof MissingValueError) return { kind: 'missing', message: error.message };
  if (error instanceof ExpressionError) return { kind: 'wrong', message: error.message };
  throw error;
}

/** Nothing is called wrong while it is being written. */
export function whileWriting(preview: Preview, isBeingWritten: boolean): Preview {
  return preview.kind === 'wrong' && isBeingWritten ? { ...preview, kind: 'unfinished' } : preview;
}

/** What is wrong where a reference names a node that no way leads from. */
function strangerIn(compiled: CompiledValue, { nodes, element }: Sources): Preview | undefined {
  for (const reference of referencesOf(compiled)) {
    if (reference.source !== 'node') {
      if (element !== undefined) continue;
      return { kind: 'wrong', message: `$${reference.source} exists only inside a node with forEach` };
    }
    if (nodes.some(({ id }) => id === reference.node)) continue;
    return {
      kind: 'wrong',
      message: notBefore(
        reference.node,
        nodes.map(({ id }) => id),
      ),
    };
  }
  return undefined;
}

/** Why a node cannot be named, and which can. */
export function notBefore(id: string, known: string[]): string {
  const offered = known.length === 0 ? 'no node runs before this one' : `use one of ${known.join(', ')}`;
  return `node '${id}' does not run before this one: ${offered}`;
}

function unknownIn(compiled: CompiledValue, { nodes, element }: Sources): Preview | undefined {
  const named = referencesOf(compiled).flatMap((reference) =>
    reference.source === 'node' ? [reference.node] : element?.isReal === true ? [] : ['forEach'],
  );
  const unknown = [...new Set(named)].filter((id) => nodes.find((each) => each.id === id)?.isReal !== true);
  return unknown.length > 0 ? { kind: 'unknown', nodes: unknown } : undefined;
}
