/** Nodes that make another list of items: Split Out, Aggregate, Sort, Limit, Summarize. */
import { computeList, computeOne, computeSeveral, computeSome } from '../steps/compute.ts';
import { listOf, memberOf, objectOf, textOf } from '../model/json.ts';
import type { Draft } from '../steps/items.ts';
import type { NodeContext } from '../steps/context.ts';
import { toJavaScript, valueOf } from '../expressions/value.ts';
import { namesOf, quoted } from './names.ts';
import { convertRemoveDuplicates } from './duplicates.ts';

export function convertSplitOut(context: NodeContext): Draft {
  const { parameters } = context;
  const fields = namesOf(parameters['fieldToSplitOut']).map((name) => name.replace(/^\$json\./, ''));
  const targets = namesOf(memberOf(parameters, 'options.destinationFieldName'));
  const include = textOf(parameters['include'], 'noOtherFields');
  const kept =
    include === 'allOtherFields'
      ? `${quoted(fields)}.reduce(removeMember, structuredClone($json))`
      : include === 'selectedOtherFields'
        ? `${quoted(namesOf(parameters['fieldsToInclude']))}.reduce((kept, name) => setMember(kept, name, member($json, name)), {})`
        : '{}';
  const isWhole = include === 'noOtherFields' && fields.length === 1 && targets.length === 0;
  return computeSeveral(
    context,
    `const fields = ${quoted(fields)};
const targets = ${quoted(fields.map((field, index) => targets[index] ?? field.split('.').at(-1) ?? field))};
return $in.map(($json) => {
  const lists = fields.map((field) => { const value = member($json, field); return Array.isArray(value) ? value : value !== null && typeof value === 'object' ? Object.values(value) : value === undefined ? [] : [value]; });
  return Array.from({ length: Math.max(0, ...lists.map((list) => list.length)) }, (_, at) =>
    ${isWhole ? `lists[0][at] !== null && typeof lists[0][at] === 'object' ? lists[0][at] : { [targets[0]]: lists[0][at] }` : `targets.reduce((item, target, field) => setMember(item, target, lists[field][at]), ${kept})`});
});`,
  );
}

export function convertAggregate(context: NodeContext): Draft {
  const { parameters } = context;
  if (textOf(parameters['aggregate']) === 'aggregateAllItemData') {
    const target = textOf(parameters['destinationFieldName'], 'data') || 'data';
    const include = textOf(parameters['include'], 'allFields');
    const names = quoted(
      namesOf(parameters[include === 'specifiedFields' ? 'fieldsToInclude' : 'fieldsToExclude']),
    );
    const item =
      include === 'specifiedFields'
        ? `${names}.reduce((kept, name) => setMember(kept, name, member($json, name)), {})`
        : include === 'allFieldsExcept'
          ? `${names}.reduce(removeMember, structuredClone($json))`
          : '$json';
    return computeOne(context, `return { ${quoted(target)}: $in.map(($json) => ${item}) };`);
  }
  const keepMissing = memberOf(parameters, 'options.keepMissing') === true;
  const merges = memberOf(parameters, 'options.mergeLists') === true;
  const fields = listOf(memberOf(parameters, 'fieldsToAggregate.fieldToAggregate')).map((each) => {
    const { fieldToAggregate, renameField, outputFieldName } = objectOf(each);
    const from = textOf(fieldToAggregate);
    return [from, renameField === true ? textOf(outputFieldName, from) : (from.split('.').at(-1) ?? from)];
  });
  return computeOne(
    context,
    `return ${quoted(fields)}.reduce((result, [field, target]) => {
  const values = $in.map(($json) => member($json, field))${keepMissing ? '.map((value) => value ?? null)' : '.filter((value) => value !== undefined && value !== null)'};
  return setMember(result, target, ${merges ? 'values.flat()' : 'values'});
}, {});`,
  );
}

export function convertSort(context: NodeContext): Draft {
  const { parameters } = context;
  const type = textOf(parameters['type'], 'simple');
  if (type === 'random')
    return computeSome(
      context,
      'return $in.map((item) => [Math.random(), item]).sort(([one], [other]) => one - other).map(([, item]) => item);',
    );
  if (type === 'code')
    return computeSome(
      context,
      `const compare = (a, b) => {\n${textOf(parameters['code'])}\n};\nreturn wrap($in).sort(compare).map(({ json }) => json);`,
    );
  const fields = listOf(memberOf(parameters, 'sortFieldsUi.sortField')).map((each) => {
    const { fieldName, order } = objectOf(each);
    return [textOf(fieldName), order === 'descending' ? -1 : 1];
  });
  return computeSome(context, `return sorted($in, ${quoted(fields)});`);
}

export function convertLimit(context: NodeContext): Draft {
  const { parameters } = context;
  const count = toJavaScript(valueOf(parameters['maxItems'] ?? 1));
  return computeSome(
    context,
    `const [$json = {}] = $in;\nreturn ${textOf(parameters['keep']) === 'lastItems' ? `$in.slice(-${count})` : `$in.slice(0, ${count})`};`,
  );
}

export function convertSummarize(context: NodeContext): Draft {
  const { parameters } = context;
  const fields = listOf(memberOf(parameters, 'fieldsToSummarize.values')).map((each) => {
    const { aggregation, field, includeEmpty, separateBy, customSeparator } = objectOf(each);
    const separator =
      separateBy === 'other' ? textOf(customSeparator) : textOf(separateBy, ',').replace('\\n', '\n');
    return {
      field: textOf(field),
      aggregation: textOf(aggregation, 'count'),
      includeEmpty: includeEmpty === true,
      separator,
    };
  });
  const groups = namesOf(parameters['fieldsToSplitBy']);
  const isSingle = memberOf(parameters, 'options.outputFormat') === 'singleItem';
  if (isSingle && groups.length > 0)
    context.note('review', 'it writes one item for each group, in place of one nested item');
  const rows = `summarized($in, ${quoted(groups)}, ${quoted(fields)})`;
  return groups.length === 0
    ? computeOne(context, `return ${rows}[0] ?? {};`)
    : computeList(context, `return ${rows};`);
}

/** The node Item Lists, which became nodes of its operations. */
export function convertItemLists(context: NodeContext): Draft {
  const { parameters } = context;
  switch (textOf(parameters['operation'], 'splitOutItems')) {
    case 'splitOutItems':
      return convertSplitOut(context);
    case 'aggregateItems':
    case 'concatenateItems':
      return convertAggregate(context);
    case 'limit':
      return convertLimit(context);
    case 'removeDuplicates':
      return convertRemoveDuplicates({
        ...context,
        parameters: { ...parameters, operation: 'removeDuplicateInputItems' },
      });
    case 'summarize':
      return convertSummarize(context);
    default:
      return convertSort(context);
  }
}
