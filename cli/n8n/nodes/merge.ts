/** Merge and Compare Datasets: items of several inputs. */
import { computeList, computeOutputs } from '../steps/compute.ts';
import { listOf, memberOf, objectOf, textOf } from '../model/json.ts';
import type { Draft } from '../steps/items.ts';
import { type Input, NO_INPUT, type NodeContext, reviewCode } from '../steps/context.ts';
import { joinOrigins, originsAt } from '../steps/lineage.ts';

/** Items of several inputs in one list, by the modes of all versions. */
export function convertMerge(context: NodeContext): Draft {
  const { inputs, parameters } = context;
  const [first = NO_INPUT, second = NO_INPUT, ...more] = inputs;
  const mode = textOf(parameters['mode'], 'append');
  const all = [first, second, ...more];
  const pair = [first, second];
  const compute = (body: string) => computeList(context, body, pair);
  switch (mode) {
    case 'append':
      return withOrigins(
        computeList(
          context,
          `return [${all.map((_, index) => `...$in${index === 0 ? '' : index + 1}`).join(', ')}];`,
          all,
        ),
        joinOrigins(all),
      );
    case 'passThrough':
    case 'wait':
    case 'chooseBranch':
      return compute(`return ${chosenBranch(context)};`);
    case 'mergeByIndex':
      return byPosition(context, pair, lengthOf(textOf(parameters['join'], 'left')));
    case 'multiplex':
      return compute(`return ${multiplied('one, other')};`);
    case 'mergeByKey':
    case 'keepKeyMatches':
    case 'removeKeyMatches':
      return compute(byKey(context, mode));
    case 'combineBySql':
      context.note(
        'manual',
        'a query in SQL over the items is not imported: write code that joins $in and $in2',
      );
      return compute("throw new Error('not imported: Merge by SQL');");
    default:
      return combine(context, combinationOf(context), all);
  }
}

function combinationOf({ node, parameters }: NodeContext): string {
  if (node.version < 3) return textOf(parameters['combinationMode'], 'mergeByFields');
  return textOf(parameters['combineBy'] ?? parameters['combinationMode'], 'combineByFields');
}

function chosenBranch({ parameters }: NodeContext): string {
  const output = textOf(parameters['output'] ?? parameters['useDataOfInput'], 'specifiedInput');
  if (output === 'empty') return '[{}]';
  const chosen = textOf(parameters['useDataOfInput'], output === 'input2' ? '2' : '1');
  return chosen === '2' || chosen === 'input2' ? '$in2' : '$in';
}

/** JavaScript for all pairs of items of two inputs. */
const multiplied = (order: string): string => `$in.flatMap((one) => $in2.map((other) => merged(${order})))`;

const lengthOf = (join: string): 'least' | 'first' | 'most' =>
  join === 'outer' ? 'most' : join === 'inner' ? 'least' : 'first';

/** The items at the same position of all inputs as one item. */
function byPosition(
  context: NodeContext,
  inputs: readonly Input[],
  length: 'least' | 'first' | 'most',
  isFirstPreferred = false,
): Draft {
  const lists = inputs.map((_, index) => `$in${index === 0 ? '' : index + 1}`);
  const counts = lists.map((list) => `${list}.length`).join(', ');
  const count = length === 'first' ? '$in.length' : `Math.${length === 'most' ? 'max' : 'min'}(${counts})`;
  const items = (isFirstPreferred ? lists.toReversed() : lists).map((list) => `${list}[at]`).join(', ');
  const draft = computeList(
    context,
    `return Array.from({ length: ${count} }, (_, at) => merged(${items}));`,
    inputs,
  );
  const [output] = draft.outputs;
  if (!output) return draft;
  const places = `${output.list}.map((_, at) => at)`;
  const origins = inputs.toReversed().flatMap((input) => [...originsAt(input, places)]);
  return withOrigins(draft, new Map(origins));
}

/** The draft, with the positions from which the items of its output come. */
const withOrigins = (draft: Draft, origins: ReadonlyMap<string, string>): Draft => ({
  ...draft,
  outputs: draft.outputs.map((output, index) => (index === 0 ? { ...output, origins } : output)),
});

function byKey({ parameters }: NodeContext, mode: string): string {
  const pairs = JSON.stringify([[textOf(parameters['propertyName1']), textOf(parameters['propertyName2'])]]);
  if (mode === 'mergeByKey')
    return `return joined($in, $in2, ${pairs}, { mode: 'enrichInput1', multiple: 'first' });`;
  return `return joined($in, $in2, ${pairs}, { mode: '${mode === 'keepKeyMatches' ? 'keepMatches' : 'keepNonMatches'}', from: 'input1' });`;
}

function combine(context: NodeContext, by: string, inputs: readonly Input[]): Draft {
  const { parameters } = context;
  const clash = memberOf(parameters, 'options.clashHandling.values.resolveClash');
  if (clash === 'addSuffix')
    context.note('review', 'fields of one name have the value of the last input, not both with a suffix');
  if (memberOf(parameters, 'options.clashHandling.values.mergeMode') === 'shallowMerge')
    context.note('review', 'objects within fields of one name are merged, too');
  const isFirst = clash === 'preferInput1';
  const prefer = isFirst ? 'input1' : 'input2';
  if (by === 'mergeByPosition' || by === 'combineByPosition') {
    const isOuter = memberOf(parameters, 'options.includeUnpaired') === true;
    return byPosition(context, inputs, isOuter ? 'most' : 'least', isFirst);
  }
  const pair = inputs.slice(0, 2);
  if (by === 'multiplex' || by === 'combineAll')
    return computeList(context, `return ${multiplied(isFirst ? 'other, one' : 'one, other')};`, pair);
  const listed = listOf(memberOf(parameters, 'mergeByFields.values')).map((each) => {
    const { field1, field2 } = objectOf(each);
    return [textOf(field1), textOf(field2)];
  });
  const same = textOf(parameters['fieldsToMatchString'])
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
    .map((name) => [name, name]);
  const options = {
    mode: textOf(parameters['joinMode'], 'keepMatches'),
    from: textOf(parameters['outputDataFrom'], 'both'),
    prefer,
    multiple: textOf(memberOf(parameters, 'options.multipleMatches'), 'all'),
  };
  return computeList(
    context,
    `return joined($in, $in2, ${JSON.stringify(listed.length > 0 ? listed : same)}, ${JSON.stringify(options)});`,
    pair,
  );
}

export function convertCompareDatasets(context: NodeContext): Draft {
  const { parameters, inputs } = context;
  const pairs = listOf(memberOf(parameters, 'mergeByFields.values')).map((each) => {
    const { field1, field2 } = objectOf(each);
    return [textOf(field1), textOf(field2, textOf(field1))];
  });
  const [first = NO_INPUT, second = NO_INPUT] = inputs;
  context.note('review', 'differing items are passed on as {keys, inputA, inputB}');
  reviewCode(context, []);
  const body = `const pairs = ${JSON.stringify(pairs)};
const keyOf = (item, side) => JSON.stringify(pairs.map((pair) => member(item, pair[side])));
const others = new Map($in2.map((item) => [keyOf(item, 1), item]));
const keys = new Set($in.map((item) => keyOf(item, 0)));
const shared = $in.filter((item) => others.has(keyOf(item, 0)));
const same = (item) => JSON.stringify(item) === JSON.stringify(others.get(keyOf(item, 0)));
return [
  $in.filter((item) => !others.has(keyOf(item, 0))),
  shared.filter(same),
  shared.filter((item) => !same(item)).map((item) => ({ keys: keyOf(item, 0), inputA: item, inputB: others.get(keyOf(item, 0)) })),
  $in2.filter((item) => !keys.has(keyOf(item, 1))),
];`;
  return computeOutputs(context, body, 4, [first, second]);
}
