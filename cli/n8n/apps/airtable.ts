/** Airtable. */
import { listOf, memberOf, numberOf, objectOf, textOf } from '../model/json.ts';
import type { Draft } from '../steps/items.ts';
import type { NodeContext } from '../steps/context.ts';
import { type Value, code, constant, objectValue, valueOf } from '../expressions/value.ts';
import { convertRequest } from '../steps/request.ts';
import { urlOf } from './url.ts';

const AIRTABLE = 'https://api.airtable.com/v0';

const filled = (raw: unknown): Value | undefined =>
  raw === undefined || textOf(raw, 'x').trim() === '' ? undefined : valueOf(raw);

const withoutId = (names: readonly string[]): Value =>
  code(
    `Object.fromEntries(Object.entries($json).filter(([name]) => !${JSON.stringify(names)}.includes(name)))`,
  );

function airtableFields({ parameters }: NodeContext): Value {
  const columns = memberOf(parameters, 'columns');
  if (columns !== undefined && textOf(memberOf(columns, 'mappingMode'), 'defineBelow') === 'defineBelow')
    return valueOf(
      Object.fromEntries(
        Object.entries(objectOf(memberOf(columns, 'value'))).filter(
          ([name, value]) => name !== 'id' && value !== null,
        ),
      ),
    );
  if (parameters['addAllFields'] === false || parameters['updateAllFields'] === false)
    return code(
      `Object.fromEntries(${JSON.stringify(listOf(parameters['fields']))}.map((name) => [name, $json[name]]))`,
    );
  return withoutId(['id', 'createdTime']);
}

const RECORD = '{ id: record.id, createdTime: record.createdTime, ...record.fields }';

export function convertAirtable(context: NodeContext): Draft {
  const { parameters } = context;
  const resource = textOf(parameters['resource'], 'record');
  const operation = textOf(parameters['operation'], 'read');
  const credential = context.credential(['airtableTokenApi', 'airtableApi', 'airtableOAuth2Api']);
  const base = parameters['base'] ?? parameters['application'];
  const request = (
    method: string,
    url: Value,
    more: { body?: Value; query?: Value; items?: (r: string) => string } = {},
  ) => convertRequest(context, { method: constant(method), url, credential, items: undefined, ...more });
  if (resource === 'base') {
    if (operation === 'getSchema')
      return request('GET', urlOf('https://api.airtable.com/v0/meta/bases', base, 'tables'), {
        items: (r) => `${r}.body.tables`,
      });
    return request('GET', constant('https://api.airtable.com/v0/meta/bases'), {
      items: (r) => `${r}.body.bases`,
    });
  }
  if (operation === 'search' || operation === 'list') return searchAirtable(context, request);
  return changeAirtable(context, operation, request);
}

type Ask = (
  method: string,
  url: Value,
  more?: { body?: Value; query?: Value; items?: (r: string) => string },
) => Draft;

const tableUrl = ({ parameters }: NodeContext): Value =>
  urlOf(AIRTABLE, parameters['base'] ?? parameters['application'], parameters['table']);

function searchAirtable(context: NodeContext, request: Ask): Draft {
  const { parameters, node } = context;
  const isOld = node.version < 2;
  const formula = filled(
    parameters['filterByFormula'] ?? memberOf(parameters, 'additionalOptions.filterByFormula'),
  );
  const most = parameters['returnAll'] === false ? (numberOf(parameters['limit']) ?? 100) : 100;
  if (parameters['returnAll'] !== false)
    context.note('converted', 'one request brings at most 100 records: repeat it with offset for more');
  const list = isOld
    ? (r: string) => `${r}.body.records ?? []`
    : (r: string) => `(${r}.body.records ?? []).map((record) => (${RECORD}))`;
  return request('GET', tableUrl(context), {
    query: objectValue({
      filterByFormula: formula,
      'fields[]': filled(
        memberOf(parameters, 'options.fields') ?? memberOf(parameters, 'additionalOptions.fields'),
      ),
      maxRecords: parameters['returnAll'] === false ? constant(Math.min(most, 100)) : undefined,
      view: filled(
        memberOf(parameters, 'options.view.value') ?? memberOf(parameters, 'additionalOptions.view'),
      ),
    }),
    items: list,
  });
}

/** Columns by which n8n finds the records to change. */
function reviewMatching({ parameters, note }: NodeContext): void {
  const columns = listOf(memberOf(parameters, 'columns.matchingColumns')).map((each) => textOf(each));
  if (columns.length > 0 && !columns.includes('id'))
    note(
      'review',
      `it changes the record with the ID of the item, not those whose ${columns.join(', ')} are equal: search first`,
    );
}

function changeAirtable(context: NodeContext, operation: string, request: Ask): Draft {
  const { parameters, node } = context;
  const item =
    node.version < 2
      ? (r: string) => `[${r}.body]`
      : (r: string) => `[${r}.body].map((record) => (${RECORD}))`;
  const typecast = memberOf(parameters, 'options.typecast') === true ? constant(true) : undefined;
  const table = tableUrl(context);
  const base = parameters['base'] ?? parameters['application'];
  const id = parameters['id'] ?? memberOf(parameters, 'columns.value.id') ?? '={{ $json.id }}';
  const record = () => urlOf(AIRTABLE, base, parameters['table'], id);
  switch (operation) {
    case 'get':
    case 'read':
      return request('GET', record(), { items: item });
    case 'create':
    case 'append':
      return request('POST', table, {
        body: objectValue({
          fields: airtableFields(context),
          typecast,
        }),
        items: item,
      });
    case 'update':
      reviewMatching(context);
      return request('PATCH', record(), {
        body: objectValue({
          fields: airtableFields(context),
          typecast,
        }),
        items: item,
      });
    case 'upsert':
      return request('PATCH', table, {
        body: objectValue({
          performUpsert: constant({
            fieldsToMergeOn: listOf(memberOf(parameters, 'columns.matchingColumns')),
          }),
          records: { kind: 'list', elements: [objectValue({ fields: airtableFields(context) })] },
        }),
        items: (r) => `${r}.body.records.map((record) => (${RECORD}))`,
      });
    case 'delete':
    case 'deleteRecord':
      return request('DELETE', record());
    default:
      throw new Error(`Airtable: ${operation} has no counterpart`);
  }
}
