/**
 * What keeps a draft from going live, as far as the editor knows: missing required fields, and references that cannot be resolved. The
 * operator checks more. Loads the compiler of CEL: only what is loaded lazily may import it.
 */
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { previewCel } from '../../forms/expression/celPreview.ts';
import { previewOf, type Preview } from '../../forms/expression/preview.ts';
import type { Sources } from '../../forms/expression/source.ts';
import type { Field } from '../../forms/fields.ts';
import { valuesOf } from '../../forms/values.ts';
import { edgesOf } from '../graph.ts';
import { isTrigger } from '../kinds.ts';
import type { FilledField } from '../panel/nodeFields.ts';
import { sourcesOf } from '../panel/sources.ts';
import type { Problem, Problems } from '../problems.ts';

/** `place`: the id of a node, or `from → to` of an edge; empty: the workflow. */
export type Fault = { place: string; message: string };

/** The faults of a draft, without duplicates. `fieldsOf` gives the fields of a node; `problems` are those that are shown. */
export function faultsOf(
  spec: WorkflowSpec,
  fieldsOf: (node: WorkflowNode) => FilledField[],
  problems: Problems,
): Fault[] {
  const found = [
    ...refused(problems),
    ...spec.nodes.flatMap((node) => at(node.id, fieldsOf(node).flatMap(missingIn))),
    ...spec.nodes.flatMap((node) => at(node.id, wrongReferences(node, sourcesOf(spec, node.id, new Map())))),
    ...wrongConditions(spec),
    ...unreached(spec),
  ];
  return [...new Map(found.map((fault) => [`${fault.place}: ${fault.message}`, fault])).values()];
}

function at(place: string, messages: readonly string[]): Fault[] {
  return messages.map((message) => ({ place, message }));
}

/** What the API server refuses of the draft; problems of the saved version may be corrected in the draft. */
function refused({ nodes, edges, workflow }: Problems): Fault[] {
  const ofDraft = (list: readonly Problem[]) =>
    list.filter(({ source }) => source === 'draft').map(({ message }) => message);
  return [
    ...[...nodes].flatMap(([id, list]) => at(id, ofDraft(list))),
    ...[...edges].flatMap(([id, list]) => at(id.replace('>', ' → '), ofDraft(list))),
    ...at('', ofDraft(workflow)),
  ];
}

function missingIn({ field: { editor, isRequired, label }, value }: FilledField): string[] {
  if (value === undefined) return isRequired ? [`${label} is required.`] : [];
  const below = (fields: readonly Field[]) =>
    fields.flatMap((field) => missingIn({ field, value: valuesOf(value)[field.name] }));
  if (editor.kind === 'object') return below(editor.fields);
  if (editor.kind !== 'oneOf') return [];
  const chosen = editor.options.filter(({ name }) => valuesOf(value)[name] !== undefined);
  return below([...chosen, ...editor.common]);
}

function wrongReferences({ agent, skill, response }: WorkflowNode, sources: Sources): string[] {
  const { values, ...parameters } = skill?.parameters ?? {};
  const isSet = skill?.name === 'set';
  const templates = [
    agent?.model,
    agent?.systemPrompt,
    agent?.prompt,
    ...Object.values(parameters),
    isSet ? undefined : values,
    response?.headers,
    response?.body,
  ].filter((value) => value !== undefined);
  return [
    ...templates.map((value) => previewOf(value, sources)),
    ...(isSet ? textsIn(values) : []).map((source) => previewCel(source, sources, false)),
  ].flatMap(wrong);
}

function wrongConditions(spec: WorkflowSpec): Fault[] {
  return (spec.edges ?? []).flatMap(({ from, to, when }) => {
    if (when === undefined) return [];
    const { nodes } = sourcesOf(spec, to, new Map());
    return at(`${from} → ${to}`, wrong(previewCel(when, { nodes }, true)));
  });
}

function unreached(spec: WorkflowSpec): Fault[] {
  const reached = new Set(edgesOf(spec).map(({ to }) => to));
  const alone = spec.nodes.filter((node) => !isTrigger(node) && !reached.has(node.id));
  return alone.map(({ id }) => ({ place: id, message: 'No connection leads to this node.' }));
}

function wrong(preview: Preview): string[] {
  return preview.kind === 'wrong' ? [preview.message] : [];
}

/** All texts in a value. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
