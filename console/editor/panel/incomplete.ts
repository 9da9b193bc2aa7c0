/** What is missing in a draft: required fields, connections to nodes, nodes in groups. Pure. */
import { RUN_SCOPE } from '../../../api/scopes.ts';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import type { Field } from '../../forms/fields.ts';
import { requiredText } from '../../forms/labels.ts';
import { valuesOf } from '../../forms/values.ts';
import { isTrigger } from '../../workflows/kinds.ts';
import { disabledIn } from '../model/disabling.ts';
import { edgesOf } from '../model/graph.ts';
import type { Problem } from '../model/problems.ts';
import { scopesOf } from '../model/scopes.ts';
import type { FilledField } from './nodeFields.ts';

/** Each at its node, and a missing field at its path. Disabled nodes may lack anything. */
export function incompleteProblems(
  spec: WorkflowSpec,
  fieldsOf: (node: WorkflowNode) => FilledField[],
): { place: { node: string }; problem: Problem }[] {
  const disabled = disabledIn(spec);
  const executed = spec.nodes.filter(({ id }) => !disabled.has(id));
  const missing = executed.flatMap((node) =>
    fieldsOf(node)
      .flatMap(missingIn)
      .map((each) => ({ node: node.id, ...each })),
  );
  return [...missing, ...structureProblems(spec)].map(({ node, field, message }) => ({
    place: { node },
    problem: { field, message, source: 'incomplete' },
  }));
}

type Missing = { field: string; message: string };

function missingIn({ field, path, value }: FilledField): Missing[] {
  const { editor, isRequired, label, refusesEmpty } = field;
  if (value === undefined || (value === '' && refusesEmpty))
    return isRequired ? [{ field: path, message: requiredText(label) }] : [];
  const below = (fields: readonly Field[]) =>
    fields.flatMap((inner) =>
      missingIn({ field: inner, path: `${path}.${inner.name}`, value: valuesOf(value)[inner.name] }),
    );
  if (editor.kind === 'object') return below(editor.fields);
  if (editor.kind !== 'oneOf') return [];
  const chosen = editor.options.filter(({ name }) => valuesOf(value)[name] !== undefined);
  return below([...chosen, ...editor.common]);
}

/** Nodes that no connection leads to, and empty groups. */
function structureProblems(spec: WorkflowSpec): (Missing & { node: string })[] {
  const reached = new Set(edgesOf(spec).map(({ to }) => to));
  const { of, members } = scopesOf(spec.nodes);
  const sources = new Set(edgesOf(spec).map(({ from }) => from));
  const isUnused = ({ id, disabled }: WorkflowNode) => disabled === true && !sources.has(id);
  const alone = spec.nodes.filter(
    (node) => of(node.id) === RUN_SCOPE && !isTrigger(node) && !reached.has(node.id) && !isUnused(node),
  );
  const empty = spec.nodes.filter(
    ({ id, group, disabled }) => group !== undefined && !disabled && members(id).length === 0,
  );
  return [
    ...alone.map(({ id }) => ({ node: id, field: '', message: 'No connection leads to this node.' })),
    ...empty.map(({ id }) => ({ node: id, field: '', message: 'The group is empty: add a node to it.' })),
  ];
}
