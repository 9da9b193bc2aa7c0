/** Supabase: rows of tables by its REST API (PostgREST). */
import { type Value, code, constant, objectValue, toJavaScript, valueOf } from '../expressions/value.ts';
import { listOf, memberOf, numberOf, objectOf, textOf } from '../model/json.ts';
import type { NodeContext } from '../steps/context.ts';
import type { Draft } from '../steps/items.ts';
import { convertRequest } from '../steps/request.ts';
import { accountValue } from './account.ts';

/** A text of constants and JavaScript. */
const joined = (parts: readonly (string | Value)[]): Value =>
  code(
    parts
      .map((part) => (typeof part === 'string' ? JSON.stringify(part) : `text(${toJavaScript(part)})`))
      .join(' + '),
  );

type Condition = { name: Value; test: Value; value: Value };

function conditionsOf({ parameters }: NodeContext): Condition[] {
  return listOf(memberOf(parameters, 'filters.conditions')).map((each) => {
    const { keyName, condition, searchFunction, keyValue } = objectOf(each);
    const test = textOf(condition, 'eq') === 'fullText' ? searchFunction : (condition ?? 'eq');
    return { name: valueOf(keyName ?? ''), test: valueOf(test ?? 'fts'), value: valueOf(keyValue ?? '') };
  });
}

/** The conditions on rows as the query of the URL. */
function filterOf(context: NodeContext, operation: string): Value | undefined {
  const { parameters } = context;
  const type = operation === 'get' ? 'manual' : textOf(parameters['filterType'], USUAL[operation] ?? 'none');
  if (type === 'string')
    throw new Error('Supabase: a filter as a text has no counterpart: write an http_request with query');
  const conditions = type === 'manual' ? conditionsOf(context) : [];
  if (conditions.length === 0) return undefined;
  if (operation === 'get' || textOf(parameters['matchType'], 'anyFilter') === 'allFilters') {
    const entries = conditions.map(
      ({ name, test, value }) => `[${toJavaScript(name)}, ${toJavaScript(joined([test, '.', value]))}]`,
    );
    return code(`Object.fromEntries([${entries.join(', ')}])`);
  }
  const parts = conditions.flatMap(({ name, test, value }, index) => [
    ...(index === 0 ? [] : [',']),
    name,
    '.',
    test,
    '.',
    value,
  ]);
  return objectValue({ or: joined(['(', ...parts, ')']) });
}

const USUAL: Record<string, string> = { delete: 'manual', update: 'manual', getAll: 'manual' };

function rowOf({ parameters }: NodeContext): Value {
  if (textOf(parameters['dataToSend'], 'defineBelow') === 'autoMapInputData') {
    const ignored = textOf(parameters['inputsToIgnore'])
      .split(',')
      .map((name) => name.trim());
    return code(
      `Object.fromEntries(Object.entries($json).filter(([name]) => !${JSON.stringify(ignored)}.includes(name)))`,
    );
  }
  const fields = listOf(memberOf(parameters, 'fieldsUi.fieldValues')).map(objectOf);
  return valueOf(Object.fromEntries(fields.map(({ fieldId, fieldValue }) => [textOf(fieldId), fieldValue])));
}

const METHODS: Record<string, string> = {
  create: 'POST',
  get: 'GET',
  getAll: 'GET',
  update: 'PATCH',
  delete: 'DELETE',
};

/** The query of the URL: what is selected, how many rows, and the conditions. */
function queryOf({ parameters, note }: NodeContext, operation: string, filter: Value | undefined) {
  const isAll = parameters['returnAll'] === true;
  if (operation === 'getAll' && isAll)
    note('review', 'rows up to the limit of the API (usually 1,000) are returned');
  const fixed = {
    ...(METHODS[operation] === 'GET' && { select: '*' }),
    ...(operation === 'getAll' && !isAll && { limit: numberOf(parameters['limit']) ?? 50 }),
  };
  if (filter) return code(`({ ...${JSON.stringify(fixed)}, ...${toJavaScript(filter)} })`);
  return Object.keys(fixed).length > 0 ? constant(fixed) : undefined;
}

export function convertSupabase(context: NodeContext): Draft {
  const { parameters } = context;
  const operation = textOf(parameters['operation'], 'create');
  const method = Object.hasOwn(METHODS, operation) ? METHODS[operation] : undefined;
  if (method === undefined)
    throw new Error(`Supabase: ${operation} has no counterpart: write an http_request`);
  const filter = filterOf(context, operation);
  const query = queryOf(context, operation, filter);
  if (parameters['useCustomSchema'] === true) context.note('review', 'the schema public is used');
  const credential = context.credential(['supabaseApi']);
  const table = valueOf(textOf(parameters['tableId']) || 'replace-me');
  const name =
    table.kind === 'text' ? table.parts : [{ text: textOf(parameters['tableId']) || 'replace-me' }];
  return convertRequest(context, {
    method: constant(method),
    url: {
      kind: 'text',
      parts: [accountValue(context, credential, 'url'), { text: '/rest/v1/' }, ...name],
    },
    query,
    headers: constant({ Prefer: 'return=representation' }),
    body: method === 'POST' || method === 'PATCH' ? rowOf(context) : undefined,
    credential,
  });
}
