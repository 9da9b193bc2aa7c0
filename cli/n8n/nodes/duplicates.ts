/** Remove Duplicates. */
import { computeList, computeSome } from '../steps/compute.ts';
import { listOf, memberOf, numberOf, textOf } from '../model/json.ts';
import type { Draft } from '../steps/items.ts';
import type { NodeContext } from '../steps/context.ts';
import { toJavaScript, valueOf } from '../expressions/value.ts';
import { namesOf, quoted } from './names.ts';

export function convertRemoveDuplicates(context: NodeContext): Draft {
  const { parameters } = context;
  const operation = textOf(parameters['operation'], 'removeDuplicateInputItems');
  if (operation !== 'removeDuplicateInputItems') return seenBefore(context, operation);
  const compare = textOf(parameters['compare'], 'allFields');
  const given = parameters[compare === 'selectedFields' ? 'fieldsToCompare' : 'fieldsToExclude'];
  // Item Lists has the names as a list of objects.
  const listed = listOf(memberOf(given, 'fields')).map((each) => textOf(memberOf(each, 'fieldName')));
  const names = quoted(listed.length > 0 ? listed : namesOf(given));
  const key =
    compare === 'selectedFields'
      ? `${names}.map((name) => member(item, name))`
      : compare === 'allFieldsExcept'
        ? `${names}.reduce(removeMember, structuredClone(item))`
        : 'item';
  return computeSome(context, `return distinctItems($in, (item) => ${key});`);
}

/** Items of earlier runs: the skill `remove_duplicates` knows them by a key. */
function seenBefore(context: NodeContext, operation: string): Draft {
  const { id, parameters } = context;
  const key = textOf(parameters['dedupeValue']);
  if (
    operation !== 'removeItemsSeenInPreviousExecutions' ||
    textOf(parameters['logic'], 'removeItemsWithAlreadySeenKeyValues') !==
      'removeItemsWithAlreadySeenKeyValues'
  )
    context.note('review', 'items are compared by a key, not by their order or date');
  const before = context.newId('keys');
  const draft = computeList(
    { ...context, id: before },
    `return $in.map(($json, at) => ({ key: ${toJavaScript(valueOf(key || '={{ $json }}'))}, item: $json })).filter(({ key }) => key !== undefined && key !== null);`,
  );
  const limit = numberOf(memberOf(parameters, 'options.historySize'));
  const parameters_ = {
    items: `{{ $('${before}').data_content }}`,
    key: 'key',
    ttl: '365d',
    ...(limit && { limit: Math.min(Math.max(1, limit), 100_000) }),
  };
  return {
    ...draft,
    nodes: [...draft.nodes, { id, skill: { name: 'remove_duplicates', parameters: parameters_ } }],
    edges: [{ from: before, to: id }],
    outputs: [
      {
        node: id,
        list: `(nodes.${id}?.data_content.items ?? []).map(({ item }) => item)`,
        when: `size(nodes.${id}.data_content.items) > 0`,
        lineage: id,
      },
    ],
  };
}
