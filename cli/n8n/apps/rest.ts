/** Nodes of services whose operations are requests of a table. */
import { type Json, listOf, memberOf, objectOf, textOf } from '../model/json.ts';
import type { Draft } from '../steps/items.ts';
import type { NodeContext } from '../steps/context.ts';
import { type Value, code, constant, toJavaScript, valueOf } from '../expressions/value.ts';
import { convertRequest } from '../steps/request.ts';
import type { Operation, Service, Source } from './services/operation.ts';
import { GOOGLE } from './services/google.ts';
import { MESSAGES } from './services/messages.ts';
import { SALES } from './services/sales.ts';
import { SITES } from './services/sites.ts';
import { TASKS } from './services/tasks.ts';
import { TRANSFORMS } from './services/transforms.ts';
import { accountValue } from './account.ts';

const SERVICES: Record<string, Service> = { ...GOOGLE, ...MESSAGES, ...SALES, ...SITES, ...TASKS };

export const hasRest = (name: string): boolean => Object.hasOwn(SERVICES, name);

/** The value of a parameter; a resource locator is its value. */
function parameterAt(parameters: Json, path: string): unknown {
  const raw = memberOf(parameters, path);
  const json = objectOf(raw);
  return json['__rl'] === true ? json['value'] : raw;
}

const isGiven = (raw: unknown): boolean =>
  raw !== undefined && raw !== null && textOf(raw, 'x').trim() !== '';

const FUNCTION = /^(\w+)\((.*)\)$/;

function valueFrom(parameters: Json, source: Source): Value | undefined {
  if (source.startsWith('=')) return filledText(parameters, source.slice(1));
  const [, name, inner] = FUNCTION.exec(source) ?? [];
  if (name !== undefined && inner !== undefined) {
    const value = valueFrom(parameters, inner);
    const transform = TRANSFORMS[name];
    return value && transform && code(transform(toJavaScript(value)));
  }
  const [paths = '', otherwise] = source.split('|');
  const raw = paths
    .split(',')
    .map((path) => parameterAt(parameters, path))
    .find(isGiven);
  if (raw !== undefined) return valueOf(raw);
  return otherwise === undefined
    ? undefined
    : constant(/^\d+$/.test(otherwise) ? Number(otherwise) : otherwise);
}

/** A text with parameters in place of braces. */
function filledText(parameters: Json, template: string): Value {
  const parts = template.split(/\{(\w+)\}/).flatMap((piece, index) => {
    if (index % 2 === 0) return piece === '' ? [] : [{ text: piece }];
    const value = valueOf(textOf(parameterAt(parameters, piece)));
    return value.kind === 'text'
      ? value.parts
      : [{ text: textOf(value.kind === 'constant' ? value.value : '') }];
  });
  return parts.every((part) => 'text' in part)
    ? constant(parts.map((part) => part.text).join(''))
    : { kind: 'text', parts };
}

/** The URL with values of parameters and of the account in place of braces. */
function urlOf(template: string, context: NodeContext, credential: string): Value {
  const { parameters } = context;
  const parts = template.split(/\{(@?\w+)\}/).flatMap((piece, index) => {
    if (index % 2 === 0) return piece === '' ? [] : [{ text: piece }];
    if (piece.startsWith('@')) return [accountValue(context, credential, piece.slice(1))];
    const value = valueOf(textOf(parameterAt(parameters, piece)) || 'replace-me');
    if (value.kind === 'text') return value.parts;
    const text = textOf(value.kind === 'constant' ? value.value : '');
    const id = /\/d\/([\w-]+)/.exec(text)?.[1] ?? text;
    return [{ text: piece === 'filePath' ? encodeURI(text) : encodeURIComponent(id) }];
  });
  return parts.every((part) => 'text' in part)
    ? constant(parts.map((part) => part.text).join(''))
    : { kind: 'text', parts };
}

/** An object with the values at paths such as `fields.summary`. */
function nested(entries: readonly [string, Value][]): Value {
  const groups = Map.groupBy(entries, ([path]) => path.split('.')[0] ?? path);
  const members = [...groups].map(([name, list]): [string, Value] => {
    const [first] = list;
    if (first && list.length === 1 && first[0] === name) return [name, first[1]];
    return [name, nested(list.map(([path, value]) => [path.slice(name.length + 1), value]))];
  });
  return { kind: 'object', members };
}

const LISTED = ['fieldsUi.fieldValues', 'customPropertiesUi.customPropertiesValues'];

/** Fields that a node has as a list of `{fieldId, fieldValue}` or `{name, value}`, or as an object. */
function spreadOf(parameters: Json, path: string): Value {
  const listed = [`${path}Ui.fieldValues`, `${path}.fieldValues`, `${path}.field`, ...LISTED]
    .map((each) => listOf(memberOf(parameters, each)))
    .find((each) => each.length > 0);
  if (listed)
    return valueOf(
      Object.fromEntries(
        listed
          .map(objectOf)
          .map((field) => [
            textOf(field['fieldId'] ?? field['fieldName'] ?? field['name']),
            field['fieldValue'] ?? field['value'],
          ]),
      ),
    );
  const given = objectOf(memberOf(parameters, path));
  return Object.keys(given).length > 0 ? valueOf(given) : valueOf('={{ $json }}');
}

function bodyOf({ body }: Operation, parameters: Json): Value | undefined {
  if (!body) return undefined;
  const entries = Object.entries(body).flatMap(([path, from]): [string, Value][] => {
    const value = path === '*' ? undefined : valueFrom(parameters, from);
    return value ? [[path, value]] : [];
  });
  const own = nested(entries);
  const spread = body['*'];
  if (spread === undefined) return own;
  const all = spreadOf(parameters, spread);
  return entries.length === 0 ? all : code(`({ ...${toJavaScript(all)}, ...${toJavaScript(own)} })`);
}

function operationOf(name: string, parameters: Json): { service: Service; found: Operation } {
  const service = SERVICES[name];
  const usual = service?.usual ?? [' '];
  const resource = textOf(parameters['resource'], usual[0]?.split(' ')[0]);
  const usualOperation = usual.find((each) => each.startsWith(`${resource} `))?.split(' ')[1];
  const wanted = `${resource} ${textOf(parameters['operation'], usualOperation)}`;
  const found = service && Object.hasOwn(service.operations, wanted) ? service.operations[wanted] : undefined;
  if (!service || !found)
    throw new Error(
      `${name}: ${wanted} has no counterpart: write an http_request to the API of the service, with a Credential of kind http`,
    );
  return { service, found };
}

/** The response has one page of the list. */
function reviewPages(context: NodeContext): void {
  if (context.parameters['returnAll'] === true)
    context.note(
      'review',
      'only the first page of the list is requested: put the step into a group with repeat',
    );
}

export function convertRest(context: NodeContext, name: string): Draft {
  const { parameters } = context;
  const { service, found } = operationOf(name, parameters);
  if (found.note !== undefined) context.note('review', found.note);
  reviewPages(context);
  for (const path of found.ignored ?? []) memberOf(parameters, path);
  const query = Object.entries(found.query ?? {}).flatMap(([key, from]): [string, Value][] => {
    const value = valueFrom(parameters, from);
    return value ? [[key, value]] : [];
  });
  const path =
    found.items
      ?.split('.')
      .map((part) => `?.${part}`)
      .join('') ?? '';
  const { output } = found;
  const credential = service.credentials.length > 0 ? context.credential(service.credentials) : undefined;
  return convertRequest(context, {
    method: constant(found.method),
    url: urlOf(found.url, context, credential ?? name),
    ...(query.length > 0 && { query: { kind: 'object', members: query } }),
    ...(found.headers && { headers: constant(found.headers) }),
    body: bodyOf(found, parameters),
    contentType: found.contentType,
    credential,
    items:
      output !== undefined
        ? (r) => output.replaceAll(/\bR\b/g, r)
        : path === ''
          ? undefined
          : (r) => `responseItems(${r}.body${path})`,
  });
}
