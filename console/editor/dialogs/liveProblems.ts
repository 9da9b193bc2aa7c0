/**
 * The problems that keep a draft from going live, as far as the editor knows them: missing required fields
 * and references that cannot be resolved; and the credentials that the project does not have, without which
 * its runs fail. The operator checks more. Import it lazily: the CEL compiler is large.
 */
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { labelAt, settingLabel } from '../../forms/fields.ts';
import { requiredText } from '../../forms/labels.ts';
import { formText } from '../../forms/values.ts';
import { nodeKind } from '../../workflows/kinds.ts';
import { isNeeded } from '../model/missingCredentials.ts';
import type { Found, Problem, Problems } from '../model/problems.ts';
import { incompleteProblems } from '../panel/incomplete.ts';
import type { FilledField } from '../panel/nodeFields.ts';
import { referenceProblems } from '../panel/referenceProblems.ts';
import { edgePlace } from './placeText.ts';

/**
 * `place`: the ID of a node, or `from → to` of an edge; empty: the workflow. `setting`: the setting of the
 * workflow. `isRefused`: the API server refuses the draft for it, so that it cannot be published at all.
 * `missing`: the problem is a credential that the project does not have. `needed`: the node itself needs it.
 * `optional`: only tools or other models of the node need it.
 */
export type LiveProblem = {
  place: string;
  setting?: string;
  message: string;
  isRefused?: true;
  missing?: 'needed' | 'optional';
};

/**
 * The problems of a draft, without duplicates. `problems` are those that the editor already shows. `draft`:
 * the whole draft, if `spec` is a part of it.
 */
export function liveProblems(
  spec: WorkflowSpec,
  fieldsOf: (node: WorkflowNode) => FilledField[],
  problems: Problems,
  draft = spec,
): LiveProblem[] {
  const isReported = (id: string, field: string) =>
    (problems.nodes.get(id) ?? []).some((each) => each.source === 'draft' && each.field === field);
  // The API server says in other words that a value is empty.
  const incomplete = incompleteProblems(spec, fieldsOf).filter(
    ({ place, problem }) => !isReported(place.node, problem.field),
  );
  const found = [
    ...dryRunProblems(problems, spec),
    ...incomplete.map(({ place, problem }): LiveProblem => ({ place: place.node, message: problem.message })),
    ...withPlaces(referenceProblems(spec, draft), spec),
    ...credentialProblems(problems, spec),
  ];
  return [...new Map(found.map((problem) => [`${problem.place}: ${problem.message}`, problem])).values()];
}

/** Each missing credential once for a node, although several of its fields may name it. */
function credentialProblems({ nodes }: Problems, spec: WorkflowSpec): LiveProblem[] {
  return spec.nodes.flatMap(({ id }) => {
    const found = (nodes.get(id) ?? []).filter(({ source }) => source === 'credential');
    return [...Map.groupBy(found, ({ message }) => message)].map(([message, fields]): LiveProblem => {
      const isNeededByNode = fields.some(({ field }) => isNeeded(field));
      return { place: id, message, missing: isNeededByNode ? 'needed' : 'optional' };
    });
  });
}

function at(place: string, messages: readonly string[]): LiveProblem[] {
  return messages.map((message) => ({ place, message }));
}

/**
 * The problems that a dry run of the draft found. Those of the published version may be corrected in the
 * draft.
 */
function dryRunProblems({ nodes, edges, workflow }: Problems, spec: WorkflowSpec): LiveProblem[] {
  const ofDraft = (list: readonly Problem[]) => list.filter(({ source }) => source === 'draft');
  // The spec may be a part of the draft.
  const has = (id: string) => spec.nodes.some((node) => node.id === id);
  const found = [
    ...[...nodes].flatMap(([id, list]) =>
      has(id) ? ofDraft(list).map((problem) => atNode(id, problem, spec)) : [],
    ),
    ...[...edges].flatMap(([id, list]) => (id.split('>').every(has) ? atEdge(id, ofDraft(list)) : [])),
    ...ofDraft(workflow).map(ofWorkflow),
  ];
  return found.map((problem) => ({ ...problem, isRefused: true }));
}

function atEdge(id: string, problems: readonly Problem[]): LiveProblem[] {
  return at(
    edgePlace(id),
    problems.map(({ field, message }) => withLabel(labelsOf(field.split('.'), 'edge'), message)),
  );
}

function ofWorkflow({ field, message }: Problem): LiveProblem {
  if (field === '') return { place: '', message };
  return { place: '', setting: field, message: `${settingLabel(field)}: ${message}` };
}

function atNode(id: string, problem: Problem, spec: WorkflowSpec): LiveProblem {
  const node = spec.nodes.find((each) => each.id === id);
  return { place: id, message: withLabel(nodeLabels(problem.field.split('.'), node), problem.message) };
}

/** The message with the labels of its field before it. */
function withLabel(label: string, message: string): string {
  const text = formText(message);
  if (label === '') return text;
  const [last = label] = label.split(' › ').slice(-1);
  return text === requiredText(last) ? requiredText(label) : `${label}: ${text}`;
}

/** The labels of a field of a node, without the kind of the node. Fields have the paths of their schemas. */
function nodeLabels([first = '', ...rest]: string[], node: WorkflowNode | undefined): string {
  if (node === undefined || nodeKind(node) !== first) return labelsOf([first, ...rest], 'options');
  return labelsOf(rest, rest[0] === 'parameters' ? (node.skill?.name ?? first) : first);
}

/** `Repeat › Until` for `repeat.until`, below the path of a schema; empty for no field. */
function labelsOf(names: readonly string[], schema: string): string {
  let path = schema;
  return names
    .filter((name) => name !== '' && name !== 'parameters')
    .map((name) => {
      const [, base = name, index] = /^(.*)\[(\d+)\]$/.exec(name) ?? [];
      const label = labelAt(`${path}.${base}`, base);
      path = `${path}.${base}${index === undefined ? '' : '[]'}`;
      return index === undefined ? label : `${label} ${Number(index) + 1}`;
    })
    .join(' › ');
}

function withPlaces(found: readonly Found[], spec: WorkflowSpec): LiveProblem[] {
  return found.flatMap(({ place, problem }) => {
    if (place === undefined) return [ofWorkflow(problem)];
    if ('node' in place) return atNode(place.node, problem, spec);
    return at(edgePlace(place.edge), [problem.message]);
  });
}
