/** Bodies and pairs of names and values of HTTP Request. */
import { isExpression } from '../expressions/expression.ts';
import { listOf, memberOf, objectOf, textOf } from '../model/json.ts';
import type { NodeContext } from '../steps/context.ts';
import { type Value, code, jsonValue, toJavaScript, valueOf } from '../expressions/value.ts';

/** A list of `{name, value}` as an object. A name may be an expression. */
export function pairsOf(list: unknown): Value | undefined {
  const pairs = listOf(list).flatMap((each) => {
    const { name, value } = objectOf(each);
    return textOf(name) === '' ? [] : [[textOf(name), valueOf(value ?? '')] as [string, Value]];
  });
  if (pairs.length === 0) return undefined;
  if (pairs.every(([name]) => !isExpression(name))) return { kind: 'object', members: pairs };
  return code(
    `Object.fromEntries([${pairs.map(([name, value]) => `[${toJavaScript(valueOf(name))}, ${toJavaScript(value)}]`).join(', ')}])`,
  );
}

export const jsonObjectOf = (raw: unknown): Value | undefined =>
  raw === undefined || raw === '' ? undefined : jsonValue(raw);

export function bodyOf(context: NodeContext): { body?: Value | undefined; contentType?: string | undefined } {
  const { parameters, node } = context;
  if (node.version < 3) return oldBody(context);
  if (parameters['sendBody'] !== true) return {};
  switch (textOf(parameters['contentType'], 'json')) {
    case 'json':
      return {
        body:
          parameters['specifyBody'] === 'json'
            ? jsonObjectOf(parameters['jsonBody'])
            : pairsOf(memberOf(parameters, 'bodyParameters.parameters')),
      };
    case 'form-urlencoded':
      return {
        body:
          parameters['specifyBody'] === 'string'
            ? valueOf(parameters['body'] ?? '')
            : pairsOf(memberOf(parameters, 'bodyParameters.parameters')),
        contentType: 'application/x-www-form-urlencoded',
      };
    case 'raw':
      return {
        body: valueOf(parameters['body'] ?? ''),
        contentType: constantText(parameters['rawContentType'], 'text/plain'),
      };
    default:
      context.note(
        'manual',
        'a body with files (multipart or binary) is not imported: send the file in a way that the API takes as JSON or text',
      );
      return {};
  }
}

const constantText = (raw: unknown, otherwise: string): string =>
  isExpression(raw) ? otherwise : textOf(raw, otherwise) || otherwise;

function oldBody(context: NodeContext): { body?: Value | undefined; contentType?: string | undefined } {
  const { parameters } = context;
  const kind = textOf(memberOf(parameters, 'options.bodyContentType'), 'json');
  const isForm = kind === 'form-urlencoded';
  const contentType = isForm ? 'application/x-www-form-urlencoded' : undefined;
  if (parameters['sendBinaryData'] === true || kind === 'multipart-form-data') {
    context.note(
      'manual',
      'a body with files (multipart or binary) is not imported: send the file in a way that the API takes as JSON or text',
    );
    return {};
  }
  if (parameters['jsonParameters'] === true) {
    const raw = parameters['bodyParametersJson'];
    if (raw === undefined || raw === '') return {};
    return kind === 'raw' ? { body: valueOf(raw) } : { body: jsonValue(raw), contentType };
  }
  return { body: pairsOf(memberOf(parameters, 'bodyParametersUi.parameter')), contentType };
}
