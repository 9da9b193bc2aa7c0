/** Notion. */
import { type Json, listOf, memberOf, numberOf, objectOf, textOf } from '../model/json.ts';
import type { Draft } from '../steps/items.ts';
import type { NodeContext } from '../steps/context.ts';
import { type Value, code, constant, objectValue, toJavaScript, valueOf } from '../expressions/value.ts';
import { convertRequest } from '../steps/request.ts';
import { urlOf } from './url.ts';

const NOTION = 'https://api.notion.com/v1';

const VERSION = constant({ 'Notion-Version': '2022-06-28' });

/** A property of a page as Notion's API has it. */
function notionProperty(json: Json): [string, Value] | undefined {
  const [name = '', type = ''] = textOf(json['key']).split('|');
  if (name === '') return undefined;
  const texts = (raw: unknown): Value => ({
    kind: 'list',
    elements: [objectValue({ text: objectValue({ content: valueOf(raw ?? '') }) })],
  });
  const value = (key: string) => valueOf(json[key] ?? null);
  const js = (raw: unknown) => toJavaScript(valueOf(raw ?? null));
  const properties: Record<string, () => Record<string, Value>> = {
    title: () => ({ title: texts(json['title']) }),
    rich_text: () => ({ rich_text: texts(json['textContent'] ?? memberOf(json, 'text.text.0.text')) }),
    number: () => ({ number: code(`Number(${js(json['numberValue'])})`) }),
    select: () => ({ select: objectValue({ name: value('selectValue') }) }),
    status: () => ({ status: objectValue({ name: value('statusValue') }) }),
    multi_select: () => ({
      multi_select: code(`[${js(json['multiSelectValue'])}].flat().map((name) => ({ name }))`),
    }),
    checkbox: () => ({ checkbox: valueOf(json['checkboxValue'] ?? false) }),
    url: () => ({ url: value('urlValue') }),
    email: () => ({ email: value('emailValue') }),
    phone_number: () => ({ phone_number: value('phoneValue') }),
    relation: () => ({ relation: code(`[${js(json['relationValue'])}].flat().map((id) => ({ id }))`) }),
    date: () => ({ date: objectValue({ start: valueOf(json['date'] ?? json['dateStart'] ?? null) }) }),
  };
  const property = Object.hasOwn(properties, type) ? properties[type] : undefined;
  return property && [name, objectValue(property())];
}

function notionProperties(context: NodeContext, withTitle: boolean): Value {
  const { parameters } = context;
  const listed = listOf(memberOf(parameters, 'propertiesUi.propertyValues')).map(objectOf);
  const properties = listed.flatMap((json) => {
    const property = notionProperty(json);
    if (!property) context.note('review', `the property ${textOf(json['key'])} is left out`);
    return property ? [property] : [];
  });
  const title = textOf(parameters['title']);
  const isTitled = withTitle && title !== '' && !listed.some(({ key }) => textOf(key).endsWith('|title'));
  const own: [string, Value][] = isTitled
    ? [
        [
          'title',
          objectValue({
            title: {
              kind: 'list',
              elements: [objectValue({ text: objectValue({ content: valueOf(title) }) })],
            },
          }),
        ],
      ]
    : [];
  return { kind: 'object', members: [...own, ...properties] };
}

const idOf = (raw: unknown): string => {
  const text = textOf(raw);
  return /([0-9a-f]{32})(?:[?#]|$)/.exec(text.replaceAll('-', ''))?.[1] ?? text;
};

export function convertNotion(context: NodeContext): Draft {
  const { parameters } = context;
  const resource = textOf(parameters['resource'], 'page');
  const operation = textOf(
    parameters['operation'],
    resource === 'block' ? 'append' : resource === 'database' ? 'get' : 'create',
  );
  const credential = context.credential(['notionApi', 'notionOAuth2Api']);
  const isSimple = parameters['simple'] !== false;
  const one = isSimple ? (r: string) => `[notionItem(${r}.body)]` : (r: string) => `[${r}.body]`;
  const many = isSimple
    ? (r: string) => `(${r}.body.results ?? []).map(notionItem)`
    : (r: string) => `${r}.body.results ?? []`;
  const send = (method: string, url: Value, body?: Value, items: (r: string) => string = one) =>
    convertRequest(context, { method: constant(method), url, headers: VERSION, body, credential, items });
  const size = Math.min(numberOf(parameters['limit']) ?? 100, 100);
  const found =
    ofPages(context, `${resource} ${operation}`, { send, many, size }) ??
    ofOthers(context, `${resource} ${operation}`, { send, many, size });
  if (!found) throw new Error(`Notion: ${resource} ${operation} has no counterpart`);
  return found;
}

type NotionCall = {
  send: (method: string, url: Value, body?: Value, items?: (r: string) => string) => Draft;
  many: (r: string) => string;
  size: number;
};

/** Operations on pages. */
function ofPages(context: NodeContext, name: string, { send, many, size }: NotionCall): Draft | undefined {
  const { parameters } = context;
  const page = () => urlOf(`${NOTION}/pages`, idOf(parameters['pageId']));
  switch (name) {
    case 'databasePage getAll': {
      const isFiltered = !['', 'none'].includes(textOf(parameters['filterType']));
      if (isFiltered && textOf(parameters['filterJson']) === '')
        context.note('review', 'its filter is left out: write it in the body of the request');
      const filter =
        textOf(parameters['filterJson']) === ''
          ? undefined
          : code(
              `parseJson(${toJavaScript(valueOf(parameters['filterJson']))}).filter ?? parseJson(${toJavaScript(valueOf(parameters['filterJson']))})`,
            );
      return send(
        'POST',
        urlOf(`${NOTION}/databases`, idOf(parameters['databaseId']), 'query'),
        objectValue({ page_size: constant(size), filter }),
        many,
      );
    }
    case 'databasePage create':
      return send(
        'POST',
        constant(`${NOTION}/pages`),
        objectValue({
          parent: objectValue({ database_id: valueOf(idOf(parameters['databaseId'])) }),
          properties: notionProperties(context, true),
        }),
      );
    case 'databasePage update':
      return send('PATCH', page(), objectValue({ properties: notionProperties(context, false) }));
    case 'databasePage get':
    case 'page get':
      return send('GET', page());
    case 'page archive':
      return send('PATCH', page(), constant({ archived: true }));
    case 'page create':
      return send(
        'POST',
        constant(`${NOTION}/pages`),
        objectValue({
          parent: objectValue({ page_id: valueOf(idOf(parameters['pageId'])) }),
          properties: notionProperties(context, true),
        }),
      );
    default:
      return undefined;
  }
}

/** Operations on databases and blocks, and searches. */
function ofOthers(context: NodeContext, name: string, { send, many, size }: NotionCall): Draft | undefined {
  const { parameters } = context;
  switch (name) {
    case 'page search':
    case 'database search':
      return send(
        'POST',
        constant(`${NOTION}/search`),
        objectValue({ query: valueOf(textOf(parameters['text'])), page_size: constant(size) }),
        many,
      );
    case 'database get':
      return send(
        'GET',
        urlOf(`${NOTION}/databases`, idOf(parameters['databaseId'])),
        undefined,
        (r) => `[${r}.body]`,
      );
    case 'database getAll':
      return send(
        'POST',
        constant(`${NOTION}/search`),
        constant({ filter: { property: 'object', value: 'database' }, page_size: size }),
        (r) => `${r}.body.results ?? []`,
      );
    case 'block getAll':
    case 'block getChildBlocks':
      return send(
        'GET',
        urlOf(`${NOTION}/blocks`, idOf(parameters['blockId']), 'children'),
        undefined,
        (r) =>
          `(${r}.body.results ?? []).map((block) => ({ ...block, content: (block[block.type]?.rich_text ?? []).map(({ plain_text }) => plain_text).join('') }))`,
      );
    case 'block append': {
      const blocks = listOf(memberOf(parameters, 'blockUi.blockValues')).map((each) => {
        const { type, textContent, text } = objectOf(each);
        const kind = textOf(type, 'paragraph');
        return objectValue({
          object: constant('block'),
          type: constant(kind),
          [kind]: objectValue({
            rich_text: {
              kind: 'list',
              elements: [
                objectValue({
                  text: objectValue({ content: valueOf(textContent ?? memberOf(text, 'text.0.text') ?? '') }),
                }),
              ],
            },
          }),
        });
      });
      return send(
        'PATCH',
        urlOf(`${NOTION}/blocks`, idOf(parameters['blockId']), 'children'),
        objectValue({ children: { kind: 'list', elements: blocks } }),
        (r) => `${r}.body.results ?? []`,
      );
    }
    default:
      return undefined;
  }
}
