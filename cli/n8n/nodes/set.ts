/** Set and Rename Keys: nodes that change the fields of each item. */
import { computeEach } from '../steps/compute.ts';
import { listOf, memberOf, objectOf, textOf } from '../model/json.ts';
import type { Draft } from '../steps/items.ts';
import type { NodeContext } from '../steps/context.ts';
import { type Value, jsonValue, toJavaScript, valueOf } from '../expressions/value.ts';
import { namesOf, quoted } from './names.ts';

/** A value that the user gave as text of the type that the node has for it. */
function typed(type: string, raw: unknown): string {
  const value = valueOf(raw);
  const js = toJavaScript(value);
  const isText = value.kind === 'constant' && typeof value.value === 'string';
  if (type === 'number') return isText ? String(Number(value.value) || 0) : `Number(${js})`;
  if (type === 'boolean') return `[true, 'true', 1, '1'].includes(${js})`;
  if (type === 'object' || type === 'array') return `parseJson(${js})`;
  return value.kind === 'constant' || isSole(value) ? js : `String(${js})`;
}

const isSole = (value: Value): boolean => value.kind === 'text';

type Field = { name: unknown; type: string; value: unknown };

/** The fields of all versions of the node Set. */
function fieldsOf({ parameters }: NodeContext): Field[] {
  const assignments = listOf(memberOf(parameters, 'assignments.assignments'));
  if (assignments.length > 0)
    return assignments.map((each) => {
      const { name, type, value } = objectOf(each);
      return { name, type: textOf(type), value };
    });
  const fields = listOf(memberOf(parameters, 'fields.values')).map((each) => {
    const field = objectOf(each);
    const type = textOf(field['type'], 'stringValue').replace('Value', '');
    return { name: field['name'], type, value: field[`${type}Value`] };
  });
  const old = ['string', 'number', 'boolean'].flatMap((type) =>
    listOf(memberOf(parameters, `values.${type}`)).map((each) => {
      const { name, value } = objectOf(each);
      return { name, type, value };
    }),
  );
  return [...fields, ...old];
}

/** What of the item a Set node keeps. */
function keptBySet({ node, parameters }: NodeContext): string {
  if (node.version < 3) return parameters['keepOnlySet'] === true ? '{}' : 'structuredClone($json)';
  const include = textOf(parameters['include'], node.version < 3.3 ? 'all' : '');
  const isKept = node.version < 3.3 ? include !== 'none' : parameters['includeOtherFields'] === true;
  if (!isKept) return '{}';
  if (include === 'selected') {
    const names = namesOf(parameters['includeFields']);
    return `${quoted(names)}.reduce((kept, name) => setMember(kept, name, member($json, name)), {})`;
  }
  if (include === 'except')
    return `${quoted(namesOf(parameters['excludeFields']))}.reduce(removeMember, structuredClone($json))`;
  return 'structuredClone($json)';
}

export function convertSet(context: NodeContext): Draft {
  const { parameters } = context;
  const kept = keptBySet(context);
  const isRaw =
    textOf(parameters['mode']) === 'raw' ||
    (parameters['jsonOutput'] !== undefined && fieldsOf(context).length === 0);
  if (isRaw)
    return computeEach(context, `({ ...${kept}, ...${toJavaScript(jsonValue(parameters['jsonOutput']))} })`);
  const fields = fieldsOf(context);
  const isPlain = kept === '{}' && fields.every(({ name }) => /^[A-Za-z_][\w ]*$/.test(textOf(name)));
  if (isPlain)
    return computeEach(
      context,
      `{ ${fields.map(({ name, type, value }) => `${quoted(textOf(name))}: ${typed(type, value)}`).join(', ')} }`.replace(
        /^\{.*\}$/s,
        '($&)',
      ),
    );
  const isDotted = memberOf(parameters, 'options.dotNotation') !== false;
  const assigned = fields.reduce(
    (target, { name, type, value }) =>
      isDotted
        ? `setMember(${target}, ${toJavaScript(valueOf(name))}, ${typed(type, value)})`
        : `({ ...${target}, [${toJavaScript(valueOf(name))}]: ${typed(type, value)} })`,
    kept,
  );
  return computeEach(context, assigned);
}

export function convertRenameKeys(context: NodeContext): Draft {
  const pairs = listOf(memberOf(context.parameters, 'keys.key')).map((each) => {
    const { currentKey, newKey } = objectOf(each);
    return [textOf(currentKey), textOf(newKey)];
  });
  if (memberOf(context.parameters, 'additionalOptions.regexReplacement') !== undefined)
    context.note('review', 'regular expressions for keys are not imported');
  return computeEach(
    context,
    `${quoted(pairs)}.reduce((item, [from, to]) => { const value = member(item, from); return value === undefined ? item : setMember(removeMember(item, from), to, value); }, structuredClone($json))`,
  );
}
