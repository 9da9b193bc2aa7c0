/** Google Sheets. */
import { convertCall, loopOf, outputsOf, planValues } from '../steps/call.ts';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { listOf, memberOf, objectOf, textOf } from '../model/json.ts';
import type { Draft, Items } from '../steps/items.ts';
import { type NodeContext, optionsOf } from '../steps/context.ts';
import { type Value, code, constant, printPath, toJavaScript, valueOf } from '../expressions/value.ts';

/** Spreadsheet and sheet. A sheet that n8n knows by its number is in the URL of the spreadsheet. */
function tableOf({
  node,
  parameters,
}: NodeContext): Record<'spreadsheetId' | 'sheet' | 'range', Value | undefined> {
  const id = textOf(parameters['documentId'] ?? parameters['sheetId']) || 'replace-me';
  const raw = parameters['sheetName'];
  const sheet = textOf(raw).replace(/^gid=/, '');
  const cached = textOf(memberOf(node.parameters, 'sheetName.cachedResultName'));
  const mode = textOf(memberOf(node.parameters, 'sheetName.mode'));
  const range = textOf(
    memberOf(parameters, 'options.dataLocationOnSheet.values.range') ?? parameters['range'],
  ).replace(/^=.*/s, '');
  const isNumber = mode !== 'name' && /^\d+$/.test(sheet);
  const isKnown = !isNumber || cached !== '';
  const isPlain = /^[\w-]+$/.test(id);
  return {
    spreadsheetId:
      isKnown || !isPlain
        ? valueOf(id)
        : constant(`https://docs.google.com/spreadsheets/d/${id}/edit#gid=${sheet}`),
    sheet: isNumber
      ? cached === ''
        ? undefined
        : constant(cached)
      : sheet === ''
        ? undefined
        : valueOf(sheet),
    range: range === '' ? undefined : constant(range),
  };
}

const withoutMatching = (columns: readonly string[]): Value =>
  code(
    `Object.fromEntries(Object.entries($json).filter(([name]) => !${JSON.stringify(['row_number', ...columns])}.includes(name)))`,
  );

/** The cells to write, by heading. From version 3 on a node can name them; otherwise it writes its items. */
function cellsOf({ node, parameters }: NodeContext): Value {
  const fields = listOf(
    memberOf(parameters, 'fieldsUi.fieldValues') ?? memberOf(parameters, 'fieldsUi.values'),
  ).map(objectOf);
  const mode = textOf(
    memberOf(parameters, 'columns.mappingMode') ?? parameters['dataMode'],
    parameters['columns'] === undefined && fields.length === 0 ? 'autoMapInputData' : 'defineBelow',
  );
  if (node.version < 3 || mode !== 'defineBelow') return withoutMatching([]);
  if (fields.length > 0)
    return valueOf(
      Object.fromEntries(
        fields.map((field) => [
          textOf(
            field['fieldId'] ?? (field['column'] === 'newColumn' ? field['columnName'] : field['column']),
          ),
          field['fieldValue'],
        ]),
      ),
    );
  const columns = objectOf(memberOf(parameters, 'columns.value'));
  return valueOf(Object.fromEntries(Object.entries(columns).filter(([name]) => name !== 'row_number')));
}

const inputOf = (context: NodeContext): { input?: 'UserEntered' } =>
  textOf(
    memberOf(context.parameters, 'options.cellFormat') ??
      memberOf(context.parameters, 'options.valueInputMode'),
    'USER_ENTERED',
  ) === 'RAW'
    ? {}
    : { input: 'UserEntered' };

export function convertSheets(context: NodeContext): Draft {
  const { parameters } = context;
  const resource = textOf(parameters['resource'], 'sheet');
  const operation = textOf(parameters['operation'], 'read');
  const credential = context.credential(['googleSheetsOAuth2Api', 'googleApi']);
  if (resource !== 'sheet') throw new Error(`Google Sheets: ${resource} ${operation} has no counterpart`);
  const table = tableOf(context);
  switch (operation) {
    case 'read':
    case 'lookup':
      return readRows(context, credential, table);
    case 'append':
      return appendRow(context, credential, table);
    case 'update':
      return matchingOf(context) === 'row_number'
        ? updateRow(context, credential, table)
        : updateFound(context, credential, table, false);
    case 'appendOrUpdate':
    case 'upsert':
      return updateFound(context, credential, table, true);
    default:
      throw new Error(`Google Sheets: ${operation} has no counterpart`);
  }
}

type Table = ReturnType<typeof tableOf>;

function readRows(context: NodeContext, credential: string, table: Table): Draft {
  const { parameters } = context;
  const filters = listOf(memberOf(parameters, 'filtersUI.values')).map(objectOf);
  const old =
    textOf(parameters['lookupColumn']) === ''
      ? []
      : [{ lookupColumn: parameters['lookupColumn'], lookupValue: parameters['lookupValue'] }];
  const where = [...filters, ...old].map(({ lookupColumn, lookupValue }): [string, Value] => [
    textOf(lookupColumn),
    valueOf(lookupValue ?? ''),
  ]);
  const isFirst =
    memberOf(parameters, 'options.returnFirstMatch') === true ||
    (where.length > 0 &&
      memberOf(parameters, 'options.returnAllMatches') === undefined &&
      parameters['options'] !== undefined &&
      context.node.version < 4);
  if (where.length > 1 && parameters['combineFilters'] === 'OR')
    context.note('review', 'rows must have all of these cells, not one of them');
  return convertCall(context, {
    skill: 'read_rows',
    credential,
    parameters: {
      ...table,
      ...(where.length > 0 && { where: { kind: 'object', members: where } as const }),
      limit: constant(isFirst ? 1 : 10_000),
    },
    items: (r) => `rowItems(${r}.rows)`,
    expands: true,
  });
}

/** The column that identifies a row. */
function matchingOf({ parameters }: NodeContext): string {
  const [first] = listOf(memberOf(parameters, 'columns.matchingColumns'));
  return textOf(first) || textOf(parameters['columnToMatchOn']) || textOf(parameters['key'], 'id') || 'id';
}

/** The value of a column that is not written: the number of the row. */
function columnValue({ parameters }: NodeContext, name: string): Value | undefined {
  const given = objectOf(memberOf(parameters, 'columns.value'))[name];
  return given === undefined || given === null ? undefined : valueOf(given);
}

function matched(context: NodeContext): { keyColumn: string; key: Value; values: Value } {
  const keyColumn = matchingOf(context);
  const cells = cellsOf(context);
  if (cells.kind !== 'object')
    return {
      keyColumn,
      key: code(`$json[${JSON.stringify(keyColumn)}]`),
      values: withoutMatching([keyColumn]),
    };
  const key =
    cells.members.find(([name]) => name === keyColumn)?.[1] ??
    columnValue(context, keyColumn) ??
    valueOf(context.parameters['valueToMatchOn'] ?? `={{ $json[${JSON.stringify(keyColumn)}] }}`);
  return {
    keyColumn,
    key,
    values: { kind: 'object', members: cells.members.filter(([name]) => name !== keyColumn) },
  };
}

/** Whether the node returns the items that it got, not the cells that it wrote. */
const returnsInput = ({ node }: NodeContext, cells: Value): boolean =>
  node.version < 4 || cells.kind !== 'object';

/** What the node returns: its items as they were, or the cells that it wrote. */
function written(context: NodeContext, cells: Value, id: string, isLoop: boolean): Items {
  const { input } = context;
  const isDone = (list: string) => `(nodes.${context.id} ? ${list} : [])`;
  if (returnsInput(context, cells))
    return {
      node: context.id,
      list: isDone(input.list),
      ...(input.single && { single: input.single }),
      lineage: input.lineage,
    };
  const values = `nodes.${id}.data_content`;
  return {
    node: context.id,
    list: isDone(isLoop ? `${values}.map(({ cells }) => cells)` : `[${values}.cells]`),
    ...(!isLoop && { single: (path) => printPath(`$('${id}').data_content.cells`, path) }),
    lineage: isLoop ? input.lineage : '',
  };
}

/** Nodes behind it read what it wrote: then the cells are computed before, so that they are there. */
const isRead = ({ node, workflow }: NodeContext): boolean =>
  workflow.links.some(({ from, kind }) => from === node.name && kind === 'main');

const computedCells = (context: NodeContext, cells: Value): Value =>
  returnsInput(context, cells) || !isRead(context) ? cells : code(toJavaScript(cells));

/** A table without a column for a field of the items. */
function reviewColumns({ node, parameters, note }: NodeContext, cells: Value): void {
  if (
    cells.kind !== 'object' &&
    node.version >= 3 &&
    memberOf(parameters, 'options.handlingExtraData') !== 'error'
  )
    note(
      'review',
      'a field of the item that is no column fails the step: n8n adds the column, or leaves it out',
    );
}

function appendRow(context: NodeContext, credential: string, table: Table): Draft {
  const { id } = context;
  const cells = cellsOf(context);
  reviewColumns(context, cells);
  const plan = planValues(context, id, { ...table, cells: computedCells(context, cells) });
  const { cells: values, ...place } = plan.values;
  const isLoop = plan.forEach !== undefined;
  const node: WorkflowNode = {
    id,
    skill: {
      name: 'append_row',
      credential,
      parameters: { ...place, values, ...inputOf(context) },
    },
    ...loopOf(plan),
    ...optionsOf(context, isLoop),
  };
  const [, ...errors] = outputsOf(context, id, { isLoop, items: () => '[{}]' });
  return {
    nodes: [...plan.before, node],
    edges: plan.edges,
    entry: plan.entry,
    outputs: [written(context, cells, plan.entry, isLoop), ...errors],
  };
}

/** The row with the number of the item is changed. */
function updateRow(context: NodeContext, credential: string, table: Table): Draft {
  const { id } = context;
  const { key, values } = matched(context);
  const plan = planValues(context, id, { ...table, row: key, values });
  const isLoop = plan.forEach !== undefined;
  const node: WorkflowNode = {
    id,
    skill: { name: 'update_row', credential, parameters: { ...plan.values, ...inputOf(context) } },
    ...loopOf(plan),
    ...optionsOf(context, isLoop),
  };
  const [regular, ...errors] = outputsOf(context, id, { isLoop, items: () => '[{}]' });
  const cells = cellsOf(context);
  const output = returnsInput(context, cells) ? written(context, cells, id, isLoop) : regular;
  if (!returnsInput(context, cells) && isRead(context))
    context.note('review', 'the item behind it has no fields: n8n returns the cells that it wrote');
  return {
    nodes: [...plan.before, node],
    edges: plan.edges,
    entry: plan.entry,
    outputs: output ? [output, ...errors] : errors,
  };
}

/** A group for each item: it finds the first row with the key, then changes it, or adds one. */
function updateFound(context: NodeContext, credential: string, table: Table, isAdded: boolean): Draft {
  const { id } = context;
  const cells = cellsOf(context);
  reviewColumns(context, cells);
  const { keyColumn, key, values } = matched(context);
  const whole: Value =
    values.kind === 'object'
      ? { kind: 'object', members: [[keyColumn, key], ...values.members] }
      : code(`({ ...$json })`);
  const returned =
    returnsInput(context, cells) || !isRead(context) ? {} : { cells: code(toJavaScript(whole)) };
  const plan = planValues(context, id, {
    ...table,
    key,
    values,
    ...(isAdded && { whole }),
    ...returned,
  });
  const [find, update, append] = [context.newId('find'), context.newId('update'), context.newId('append')];
  const { key: foundKey, values: changed, whole: added, cells: _cells, ...place } = plan.values;
  const skill = (name: string, parameters: object): Pick<WorkflowNode, 'skill'> => ({
    skill: { name, credential, parameters: { ...place, ...parameters } },
  });
  const row = `{{ $('${find}').data_content.rows[0].row }}`;
  const input = inputOf(context);
  const { onError } = optionsOf(context, true);
  const nodes: WorkflowNode[] = [
    ...plan.before,
    { id, group: {}, ...loopOf(plan), ...(onError && { onError }) },
    { id: find, within: id, ...skill('read_rows', { where: { [keyColumn]: foundKey }, limit: 1 }) },
    { id: update, within: id, ...skill('update_row', { row, values: changed, ...input }) },
    ...(isAdded ? [{ id: append, within: id, ...skill('append_row', { values: added, ...input }) }] : []),
  ];
  const rows = `size(nodes.${find}.data_content.rows)`;
  const isLoop = plan.forEach !== undefined;
  const [, ...errors] = outputsOf(context, id, { isLoop, items: () => '[{}]' });
  return {
    nodes,
    edges: [
      ...plan.edges,
      { from: find, to: update, when: `${rows} > 0` },
      ...(isAdded ? [{ from: find, to: append, when: `${rows} == 0` }] : []),
    ],
    entry: plan.entry,
    outputs: [written(context, cells, plan.entry, isLoop), ...errors],
  };
}
