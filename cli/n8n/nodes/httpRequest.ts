/** HTTP Request in all versions, and GraphQL. */
import { isExpression } from '../expressions/expression.ts';
import { type Json, isFilled, memberOf, numberOf, objectOf, textOf } from '../model/json.ts';
import type { Draft } from '../steps/items.ts';
import type { NodeContext } from '../steps/context.ts';
import { type Value, code, constant, objectValue, toJavaScript, valueOf } from '../expressions/value.ts';
import { type Request, convertRequest } from '../steps/request.ts';
import { bodyOf, jsonObjectOf, pairsOf } from './httpBody.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Header values must be text. */
function textMembers(value: Value | undefined): Value | undefined {
  if (value?.kind !== 'object') {
    if (value?.kind !== 'constant') return value;
    return constant(
      Object.fromEntries(Object.entries(objectOf(value.value)).map(([name, each]) => [name, textOf(each)])),
    );
  }
  return {
    kind: 'object',
    members: value.members.map(([name, each]) => [
      name,
      each.kind === 'constant' ? constant(textOf(each.value)) : each,
    ]),
  };
}

const FORBIDDEN = /^(?:host|content-length|connection|transfer-encoding|content-type)$/i;

function withoutConnection(value: Value | undefined): Value | undefined {
  if (value?.kind === 'constant') return withoutConnection(valueOf(value.value));
  if (value?.kind !== 'object') return value;
  const members = value.members.filter(([name]) => !FORBIDDEN.test(name));
  return members.length === 0 ? undefined : { kind: 'object', members };
}

function contentTypeIn(value: Value | undefined): string | undefined {
  const members: readonly [string, unknown][] =
    value?.kind === 'object'
      ? value.members.map(([name, each]) => [name, each.kind === 'constant' ? each.value : undefined])
      : value?.kind === 'constant'
        ? Object.entries(objectOf(value.value))
        : [];
  const found = members.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  return typeof found === 'string' && found !== '' ? found : undefined;
}

/** The host that a URL begins with, if it is constant. */
function hostOf(url: unknown): string | undefined {
  const text = textOf(url).replace(/^=/, '');
  const [, host] = /^https?:\/\/([^/{}?#\s:@]+)(?::\d+)?(?:[/?#]|$)/i.exec(text) ?? [];
  return host?.toLowerCase();
}

function credentialOf(context: NodeContext): string | undefined {
  const { parameters, node } = context;
  const kind = textOf(parameters['authentication'], 'none');
  const own = Object.keys(node.credentials);
  const host = hostOf(parameters['url']);
  if (kind === 'none' && node.version >= 2) return undefined;
  if (kind === 'none' && own.length === 0) return undefined;
  const chosen = textOf(parameters['genericAuthType']) || textOf(parameters['nodeCredentialType']);
  const type =
    chosen ||
    (own[0] ??
      {
        headerAuth: 'httpHeaderAuth',
        basicAuth: 'httpBasicAuth',
        queryAuth: 'httpQueryAuth',
        oAuth2: 'oAuth2Api',
      }[kind]);
  if (type === undefined) return undefined;
  if (['httpDigestAuth', 'oAuth1Api', 'httpCustomAuth', 'httpSslAuth'].includes(type))
    context.note('review', `${type} has no counterpart: the Credential sends a bearer token. Change it`);
  return context.credential([type], host);
}

function listed(parameters: Json, kind: 'Query' | 'Header', isNew: boolean): Value | undefined {
  const lower = kind.toLowerCase();
  if (!isNew)
    return parameters['jsonParameters'] === true
      ? jsonObjectOf(parameters[`${lower}ParametersJson`])
      : pairsOf(memberOf(parameters, `${lower}ParametersUi.parameter`));
  const isSent = parameters[kind === 'Query' ? 'sendQuery' : 'sendHeaders'] === true;
  if (!isSent) return undefined;
  const specified = parameters[kind === 'Query' ? 'specifyQuery' : 'specifyHeaders'];
  return specified === 'json'
    ? jsonObjectOf(parameters[kind === 'Query' ? 'jsonQuery' : 'jsonHeaders'])
    : pairsOf(memberOf(parameters, `${lower}Parameters.parameters`));
}

/** An option of the response, which has another place in each version. */
function responseOption({ parameters, node }: NodeContext, name: string, old: string): unknown {
  return memberOf(parameters, node.version >= 3 ? `options.response.response.${name}` : old);
}

function responseOf(context: NodeContext): Pick<Request, 'response' | 'items' | 'expectAll'> {
  const { parameters } = context;
  const format = textOf(responseOption(context, 'responseFormat', 'responseFormat'), 'autodetect');
  const isFull = responseOption(context, 'fullResponse', 'options.fullResponse') === true;
  const neverFails = responseOption(context, 'neverError', 'options.ignoreResponseCode') === true;
  const property =
    textOf(responseOption(context, 'outputPropertyName', 'dataPropertyName'), 'data') || 'data';
  if (format === 'file')
    context.note(
      'review',
      'the file is data.body of the item as base64, at most 384 KiB: n8n has it as binary data',
    );
  if (
    isFilled(memberOf(parameters, 'options.pagination.pagination')) &&
    textOf(memberOf(parameters, 'options.pagination.pagination.paginationMode'), 'off') !== 'off'
  )
    context.note('review', 'only the first page is requested: put the step into a group with repeat');
  if (isFilled(memberOf(parameters, 'options.batching.batch')))
    context.note('converted', 'batches are one request after the other');
  const whole = (result: string) =>
    `[{ body: ${result}.body, headers: ${result}.headers, statusCode: ${result}.status }]`;
  const text = (result: string) => `[{ ${JSON.stringify(property)}: ${result}.body }]`;
  const items = isFull
    ? whole
    : format === 'text' || format === 'string' || format === 'file'
      ? text
      : undefined;
  return {
    items,
    ...(format === 'text' || format === 'string' ? { response: 'text' as const } : {}),
    expectAll: neverFails,
  };
}

/** Options of how it connects. */
function connectionOf(context: NodeContext): Pick<Request, 'redirects' | 'timeoutMs'> {
  const { parameters } = context;
  if (
    parameters['allowUnauthorizedCerts'] === true ||
    memberOf(parameters, 'options.allowUnauthorizedCerts') === true
  )
    context.note('review', 'certificates are verified, which an option of the node switches off in n8n');
  const redirect = objectOf(memberOf(parameters, 'options.redirect.redirect'));
  const follows = redirect['followRedirects'] ?? memberOf(parameters, 'options.followRedirect');
  const most = numberOf(redirect['maxRedirects']);
  return {
    timeoutMs: numberOf(memberOf(parameters, 'options.timeout')),
    redirects:
      follows === false ? 0 : most === undefined ? undefined : Math.min(Math.max(Math.round(most), 0), 10),
  };
}

export function convertHttpRequest(context: NodeContext): Draft {
  const { parameters, node } = context;
  const isNew = node.version >= 3;
  const rawMethod =
    parameters[node.version < 2 && parameters['requestMethod'] !== undefined ? 'requestMethod' : 'method'] ??
    parameters['requestMethod'] ??
    'GET';
  const method =
    isExpression(rawMethod) || METHODS.includes(textOf(rawMethod)) ? valueOf(rawMethod) : constant('GET');
  const headers = textMembers(listed(parameters, 'Header', isNew));
  const { body, contentType } = bodyOf(context);
  const given = contentTypeIn(headers);
  const response = responseOf(context);
  return convertRequest(context, {
    method,
    url: openUrl(context, parameters['url']),
    query: listed(parameters, 'Query', isNew),
    headers: withoutConnection(headers),
    body,
    contentType: body ? (contentType ?? given) : undefined,
    credential: credentialOf(context),
    ...response,
    ...connectionOf(context),
    expands: response.items === undefined,
  });
}

const PRIVATE =
  /^(?:localhost|127\..*|10\..*|192\.168\..*|172\.(?:1[6-9]|2\d|3[01])\..*|169\.254\..*|0\.0\.0\.0|.*\.(?:local|internal|svc))$/;

/**
 * A URL whose host is written by an expression, or which egress must be told of, is computed before: as a
 * whole it is requested as it is.
 */
function openUrl(context: NodeContext, raw: unknown): Value {
  const value = urlOf(raw);
  const host = hostOf(raw) ?? hostOf(`http://${textOf(raw)}`);
  if (host !== undefined && PRIVATE.test(host)) {
    context.note('review', `${host} is a private address: add it to egress.allow of the ProjectSettings`);
    return code(toJavaScript(value));
  }
  const [first, second] = value.kind === 'text' ? value.parts : [];
  const isHostWritten =
    first && 'text' in first && /^https?:\/\/[^/]*$/i.test(first.text) && second !== undefined;
  return isHostWritten ? code(toJavaScript(value)) : value;
}

/** A URL without a scheme has http in n8n. */
function urlOf(raw: unknown): Value {
  const text = textOf(raw)
    .trim()
    .replaceAll(/[\r\n\t]+/g, '')
    .replaceAll(/ (?![^{]*\}\})/g, '%20');
  if (text === '' || text === '=') return constant('https://example.invalid/');
  if (text.startsWith('=')) {
    const rest = text.slice(1).trim();
    return /^(?:https?:\/\/|\{\{)/i.test(rest) ? valueOf(`=${rest}`) : valueOf(`=http://${rest}`);
  }
  return constant(/^https?:\/\//i.test(text) ? text : `http://${text.replace(/^\/+/, '')}`);
}

export function convertGraphql(context: NodeContext): Draft {
  const { parameters } = context;
  const variables = jsonObjectOf(parameters['variables']);
  const kind = textOf(parameters['authentication'], 'none');
  const own = Object.keys(context.node.credentials);
  // Servers answer a query alike in both methods and formats.
  void [parameters['requestFormat'], parameters['requestMethod']];
  return convertRequest(context, {
    method: constant('POST'),
    url: urlOf(parameters['endpoint']),
    headers: withoutConnection(textMembers(pairsOf(memberOf(parameters, 'headerParametersUi.parameter')))),
    body: objectValue({ query: valueOf(parameters['query'] ?? ''), variables }),
    credential:
      kind === 'none'
        ? undefined
        : context.credential(own.length > 0 ? own : ['httpHeaderAuth'], hostOf(parameters['endpoint'])),
    items: (result) => `[${result}.body]`,
  });
}
