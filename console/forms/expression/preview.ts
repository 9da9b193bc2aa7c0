/** Previews of expressions with the outputs of the last run, and their errors. */
import { ExpressionError, MissingValueError } from '../../../api/expression/errors.ts';
import { evaluate, toText } from '../../../api/expression/evaluate.ts';
import { foundText } from '../../../api/expression/found.ts';
import { pathOfData } from '../../../api/expression/n8n.ts';
import { printReference, type NodeMember, type Reference } from '../../../api/expression/reference.ts';
import type { Printer, Scope } from '../../../api/expression/scope.ts';
import { compileValue, referencesOf, type CompiledValue } from '../../../api/expression/template.ts';
import { typeLabel, type Source, type Sources } from '../source.ts';
import { formText } from '../values.ts';

export type Preview =
  /** Nothing to preview: the text has no reference. */
  | { kind: 'plain' }
  /** Invalid, but still being typed. */
  | { kind: 'unfinished'; message: string }
  | { kind: 'value'; text: string; type: string }
  /** A node that it refers to has no output yet. */
  | { kind: 'unknown'; nodes: string[] }
  /** Invalid, or refers to a node that is not available. */
  | { kind: 'wrong'; message: string }
  /** Valid, but fails with the last outputs. */
  | { kind: 'missing'; message: string };

const LONGEST = 2_000;

/** No node has this ID: the output before may be that of the same node. */
const PREVIOUS = '';

/** Each run has URLs of its own. */
const CALLBACK_URL = '[URL of a callback]';

/** The evaluation scope of the last outputs. */
export function scopeOf({ nodes, element, previous, callbacks }: Sources): Scope {
  return {
    node: (id) => {
      const source = id === PREVIOUS ? previous : nodes.find((each) => each.id === id);
      return source?.isReal === true ? source.output : undefined;
    },
    ...(previous?.isReal === true && { previous: PREVIOUS }),
    url: (id) => (callbacks?.includes(id) === true ? CALLBACK_URL : undefined),
    ...(element?.isReal === true && { item: element.item, index: element.index }),
  };
}

/** The preview of a parameter: a text, or JSON that contains texts. */
export function previewOf(value: unknown, sources: Sources): Preview {
  try {
    const compiled = compileValue(value);
    if (referencesOf(compiled).length === 0) return { kind: 'plain' };
    const problem = unavailableReference(compiled, sources) ?? unknownIn(compiled, sources);
    if (problem !== undefined) return problem;
    const given = evaluate(compiled, scopeOf(sources));
    return sources.isList && !Array.isArray(given) ? notAList(given) : valueOf(given);
  } catch (error) {
    return problemOf(error);
  }
}

function notAList(value: unknown): Preview {
  const message = `The items must be a list, but the value is of type ${typeLabel(value)}: refer to a list in it`;
  return { kind: 'missing', message };
}

/** A value as a preview. */
export function valueOf(value: unknown): Preview {
  const text = toText(value);
  return {
    kind: 'value',
    text: text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text,
    type: typeLabel(value),
  };
}

/** An error as a preview. */
export function problemOf(error: unknown): Preview {
  if (error instanceof MissingValueError) return { kind: 'missing', message: missingText(error) };
  if (error instanceof ExpressionError) return { kind: 'wrong', message: formText(error.message) };
  throw error;
}

/** With the names of what there is, which the messages of runs do not have. */
function missingText({ message, missing }: MissingValueError): string {
  const names = missing && foundText(missing.found);
  return names === undefined ? message : `${message.replace(/: it has \d+ members?$/, '')}. ${names}`;
}

/**
 * Errors are reported only after typing has stopped. Until then there is one line for the message. A field of
 * one line does not count lines.
 */
export function whileWriting(
  preview: Preview,
  { isBeingWritten, isMultiline }: { isBeingWritten: boolean; isMultiline: boolean },
): Preview {
  if (preview.kind !== 'wrong' || (isMultiline && !isBeingWritten)) return preview;
  const message = preview.message.replace(/^line \d+, column \d+: /i, '');
  return { kind: isBeingWritten ? 'unfinished' : 'wrong', message };
}

/** The error of a reference to a node that does not run before this one. */
function unavailableReference(compiled: CompiledValue, sources: Sources): Preview | undefined {
  const { nodes, element, previous, callbacks } = sources;
  for (const reference of referencesOf(compiled)) {
    if (reference.source === 'url') {
      if (callbacks?.includes(reference.node) === true) continue;
      return { kind: 'wrong', message: unavailableCallback(reference.node, callbacks ?? []) };
    }
    const absent = absentMember(reference, { nodes, element, previous }, printReference);
    if (absent !== undefined) return { kind: 'wrong', message: absent };
    if (reference.source !== 'node') {
      const isOfElement = reference.source === 'item' || reference.source === 'index';
      if (!isOfElement || element !== undefined) continue;
      return { kind: 'wrong', message: `$${reference.source} exists only in a loop over items` };
    }
    const named = nodes.find(({ id }) => id === reference.node);
    if (named?.isDisabled && reference.default === undefined)
      return { kind: 'wrong', message: disabledNode(reference.node, "add a default, such as ?? 'none'") };
    if (named) continue;
    return { kind: 'wrong', message: unavailableNode(reference.node, sources) };
  }
  return undefined;
}

function unavailableCallback(id: string, known: readonly string[]): string {
  const offered = known.length === 0 ? 'add a Wait node for a callback' : `use one of ${known.join(', ')}`;
  return `Node '${id}' does not wait for a callback here: ${offered}`;
}

/** Why an expression cannot refer to the node, and to which nodes it can. */
export function unavailableNode(id: string, { nodes, allIds }: Pick<Sources, 'nodes' | 'allIds'>): string {
  const offered =
    nodes.length === 0
      ? 'no node runs before this one'
      : `use one of ${nodes.map((node) => node.id).join(', ')}`;
  const why = allIds?.includes(id) === false ? 'does not exist' : 'does not run before this one';
  return `Node '${id}' ${why}: ${offered}`;
}

/**
 * Why the member that a reference reads never has a value, as the operator checks it; undefined if it may
 * have one, or if no such node is known.
 */
export function absentMember(
  reference: Reference,
  { nodes, element, previous }: Pick<Sources, 'nodes' | 'element' | 'previous'>,
  print: Printer,
): string | undefined {
  if (reference.source !== 'node' && reference.source !== 'previous') return undefined;
  const { member } = reference;
  const isItem = member === 'item' || member === 'index';
  // The node before the first node of a body is the loop around it.
  if (reference.source === 'previous' && isItem && element !== undefined) return undefined;
  const source = reference.source === 'previous' ? previous : nodes.find(({ id }) => id === reference.node);
  if (!source || source.members.includes(member)) return undefined;
  const written = print(reference);
  if (member === 'item') {
    const path = pathOfData(reference.path, source.kind === 'webhook');
    const data = print({ ...reference, member: 'data_content', path });
    return `write ${data} in place of ${written}: only loops over items have .item, inside of their body`;
  }
  return `${written} never has a value: ${WHY_NEVER[member]?.(source) ?? `use .${source.members.join(' or .')}`}`;
}

const WHY_NEVER: Partial<Record<NodeMember, (source: Source) => string>> = {
  index: () => 'only loops over items have .index, inside of their body',
  headers: ({ id, kind }) =>
    kind === 'webhook' ? `add the header to those of '${id}'` : 'only a webhook has headers',
  error: ({ id }) =>
    `a failure of '${id}' ends the run, unless it continues or a connection follows the failure`,
};

/** Why a disabled node cannot be referred to. `remedy`: how the expression can do without its output. */
export function disabledNode(id: string, remedy: string): string {
  return `Node '${id}' is disabled and has no output: enable it, refer to another node, or ${remedy}`;
}

function unknownIn(compiled: CompiledValue, { nodes, element, previous }: Sources): Preview | undefined {
  const named = referencesOf(compiled).flatMap((reference) => {
    if (reference.source === 'node') return [reference.node];
    if (reference.source === 'url') return [];
    if (reference.source === 'previous') return previous?.isReal === true ? [] : ['$previous'];
    if (reference.source !== 'item' && reference.source !== 'index') return [`$${reference.source}`];
    return element?.isReal === true ? [] : [`$${reference.source}`];
  });
  const unknown = [...new Set(named)].filter((id) => nodes.find((each) => each.id === id)?.isReal !== true);
  return unknown.length > 0 ? { kind: 'unknown', nodes: unknown } : undefined;
}
