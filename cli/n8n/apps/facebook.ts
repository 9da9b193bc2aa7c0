/** Facebook Graph API: any request to it. */
import { type Value, constant, objectValue, valueOf } from '../expressions/value.ts';
import { listOf, memberOf, objectOf, textOf } from '../model/json.ts';
import type { NodeContext } from '../steps/context.ts';
import type { Draft } from '../steps/items.ts';
import { convertRequest } from '../steps/request.ts';

export function convertFacebook(context: NodeContext): Draft {
  const { parameters } = context;
  if (parameters['sendBinaryData'] === true)
    throw new Error('Facebook Graph API: a file as the body has no counterpart');
  const host = textOf(parameters['hostUrl'], 'graph.facebook.com');
  const version = textOf(parameters['graphApiVersion']);
  const edge = textOf(parameters['edge']);
  const segments = [version, textOf(parameters['node']), edge].filter((each) => each !== '');
  const parts = segments.flatMap((segment) => {
    const value = valueOf(segment);
    return [
      { text: '/' },
      ...(value.kind === 'text' ? value.parts : [{ text: segment.replace(/^\/+/, '') }]),
    ];
  });
  const named = listOf(memberOf(parameters, 'options.queryParameters.parameter')).map(objectOf);
  const fields = listOf(memberOf(parameters, 'options.fields.field')).map((each) =>
    textOf(objectOf(each)['name']),
  );
  const query: Record<string, Value> = Object.fromEntries(
    named.map(({ name, value }) => [textOf(name), valueOf(value ?? '')]),
  );
  if (textOf(memberOf(parameters, 'options.queryParametersJson')) !== '')
    context.note('review', 'it is sent without the query that is JSON: add it');
  return convertRequest(context, {
    method: constant(textOf(parameters['httpRequestMethod'], 'GET')),
    url: { kind: 'text', parts: [{ text: `https://${host}` }, ...parts] },
    query: objectValue({
      ...query,
      ...(fields.length > 0 && { fields: constant(fields.join(',')) }),
    }),
    credential: context.credential(['facebookGraphApi']),
  });
}
