/**
 * References and CEL of a draft that cannot be resolved, found without the operator. Pure. Import it lazily:
 * the CEL compiler is large.
 */
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { previewCel } from '../../forms/expression/celPreview.ts';
import { previewOf, type Preview } from '../../forms/expression/preview.ts';
import type { Sources } from '../../forms/source.ts';
import { disabledIn } from '../model/disabling.ts';
import { edgeId } from '../model/graph.ts';
import { scopesOf } from '../model/scopes.ts';
import type { Found } from '../model/problems.ts';
import { loopSourcesOf, sourcesOf } from './sources.ts';

/**
 * Each at its field: the path within the node, such as `skill.parameters.to`, or `when` of an edge. Fields of
 * disabled nodes are not checked. `draft`: the whole draft, if `spec` is a part of it.
 */
export function referenceProblems(spec: WorkflowSpec, draft = spec): Found[] {
  const disabled = disabledIn(spec);
  const executed = spec.nodes.filter(({ id }) => !disabled.has(id));
  const allIds = draft.nodes.map(({ id }) => id);
  return [
    ...executed.flatMap((node) => inNode(node, { ...sourcesOf(spec, node.id, new Map()), allIds })),
    ...executed.flatMap((node) => inLoop(spec, node, allIds)),
    ...inConditions(spec, allIds),
  ];
}

function inNode(node: WorkflowNode, sources: Sources): Found[] {
  const { agent, skill, response, wait, fail } = node;
  const { values, ...parameters } = skill?.parameters ?? {};
  const isSet = skill?.name === 'set';
  const templates: Record<string, unknown> = {
    'agent.model': agent?.model,
    'agent.systemPrompt': agent?.systemPrompt,
    'agent.prompt': agent?.prompt,
    ...Object.fromEntries(
      Object.entries(parameters).map(([name, value]) => [`skill.parameters.${name}`, value]),
    ),
    'skill.parameters.values': isSet ? undefined : values,
    'response.headers': response?.headers,
    'response.body': response?.body,
    'wait.until': wait?.until,
    'fail.message': fail?.message,
  };
  const place = { node: node.id };
  return [
    ...Object.entries(templates).flatMap(([field, value]) =>
      value === undefined ? [] : found(place, field, previewOf(value, sources)),
    ),
    ...(isSet ? expressionsIn(values, 'skill.parameters.values') : []).flatMap(({ field, source }) =>
      found(place, field, previewCel(source, sources, false)),
    ),
  ];
}

function inLoop(spec: WorkflowSpec, { id, forEach, repeat }: WorkflowNode, allIds: string[]): Found[] {
  if (forEach === undefined && repeat === undefined) return [];
  const { items, until } = loopSourcesOf(spec, id, new Map());
  const place = { node: id };
  return [
    ...(forEach?.items ? found(place, 'forEach.items', previewOf(forEach.items, { ...items, allIds })) : []),
    ...(repeat?.until
      ? found(place, 'repeat.until', previewCel(repeat.until, { ...until, allIds }, true))
      : []),
  ];
}

function inConditions(spec: WorkflowSpec, allIds: string[]): Found[] {
  const { around } = scopesOf(spec.nodes);
  const disabled = disabledIn(spec);
  return (spec.edges ?? []).flatMap((edge) => {
    if (edge.when === undefined || around(edge.to).some((group) => disabled.has(group))) return [];
    const { nodes } = sourcesOf(spec, edge.to, new Map());
    return found({ edge: edgeId(edge) }, 'when', previewCel(edge.when, { nodes, allIds }, true));
  });
}

function found(place: Found['place'], field: string, preview: Preview): Found[] {
  return preview.kind === 'wrong'
    ? [{ place, problem: { field, message: preview.message, source: 'reference' } }]
    : [];
}

/** All strings in a value, each at its path. */
function expressionsIn(value: unknown, field: string): { field: string; source: string }[] {
  if (typeof value === 'string') return [{ field, source: value }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    expressionsIn(member, Array.isArray(value) ? `${field}[${key}]` : `${field}.${key}`),
  );
}
