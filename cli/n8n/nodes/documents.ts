/** XML, RSS Feed Read and Crypto. */
import { computeEach } from '../steps/compute.ts';
import { memberOf, numberOf, objectOf, textOf } from '../model/json.ts';
import type { Draft } from '../steps/items.ts';
import type { NodeContext } from '../steps/context.ts';
import { constant, toJavaScript, valueOf } from '../expressions/value.ts';
import { convertRequest } from '../steps/request.ts';

export function convertXml(context: NodeContext): Draft {
  const { parameters } = context;
  if (textOf(parameters['mode'], 'xmlToJson') !== 'xmlToJson')
    throw new Error('XML: JSON to XML has no counterpart: write the text in a code node');
  const property = JSON.stringify(textOf(parameters['dataPropertyName'], 'data'));
  const options = JSON.stringify(objectOf(parameters['options']));
  return computeEach(context, `xmlToObject($json[${property}], ${options})`);
}

export function convertFeed(context: NodeContext): Draft {
  const { parameters } = context;
  if (memberOf(parameters, 'options.ignoreSSL') === true)
    context.note('review', 'certificates are verified, which the option ignoreSSL switches off in n8n');
  return convertRequest(context, {
    method: constant('GET'),
    url: valueOf(textOf(parameters['url']) || 'https://example.invalid/'),
    response: 'text',
    items: (r) => `feedItems(${r}.body)`,
  });
}

export function convertCrypto(context: NodeContext): Draft {
  const { parameters } = context;
  const action = textOf(parameters['action'], 'hash');
  const target = JSON.stringify(textOf(parameters['dataPropertyName'], 'data'));
  const value = cryptoValue(context, action);
  return computeEach(context, `setMember(structuredClone($json), ${target}, ${value})`);
}

function cryptoValue({ parameters }: NodeContext, action: string): string {
  if (action === 'generate') {
    const kind = textOf(parameters['encodingType'], 'uuid');
    return `randomText(${JSON.stringify(kind)}, ${numberOf(parameters['stringLength']) ?? 32})`;
  }
  const type = textOf(parameters['type'], 'MD5');
  if (type !== 'SHA256' || !['hash', 'hmac'].includes(action) || parameters['binaryData'] === true)
    throw new Error(`Crypto: ${action} with ${type} has no counterpart: only SHA256 of texts has one`);
  const text = toJavaScript(valueOf(parameters['value'] ?? ''));
  const encoding = JSON.stringify(textOf(parameters['encoding'], 'hex'));
  return action === 'hash'
    ? `sha256(${text}, ${encoding})`
    : `hmacSha256(${toJavaScript(valueOf(parameters['secret'] ?? ''))}, ${text}, ${encoding})`;
}
