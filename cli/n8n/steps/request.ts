/** Converts nodes that send an HTTP request for each of their items. */
import { convertCall } from './call.ts';
import type { Draft } from './items.ts';
import type { NodeContext } from './context.ts';
import { type Value, constant } from '../expressions/value.ts';

export type Request = {
  method: Value;
  url: Value;
  query?: Value | undefined;
  headers?: Value | undefined;
  body?: Value | undefined;
  contentType?: string | undefined;
  response?: 'json' | 'text' | undefined;
  credential?: string | undefined;
  /** JavaScript for the items of a response, which is in the placeholder. */
  items?: ((result: string) => string) | undefined;
  expectAll?: boolean;
  /** How many redirects are followed. Default: that of `http_request`. */
  redirects?: number | undefined;
  /** How long a request may take. Default: that of steps. */
  timeoutMs?: number | undefined;
  /** Whether one response can be several items. Default: true. */
  expands?: boolean;
};

/** A step that sends a request for each item. */
export function convertRequest(context: NodeContext, request: Request): Draft {
  const {
    method,
    url,
    query,
    headers,
    body,
    contentType,
    response,
    credential,
    items,
    expectAll,
    redirects,
    timeoutMs,
    expands = true,
  } = request;
  return convertCall(context, {
    skill: 'http_request',
    credential,
    timeoutMs,
    parameters: {
      method: isGet(method) ? undefined : method,
      url,
      query,
      headers,
      body,
      ...(contentType !== undefined && { contentType: constant(contentType) }),
      ...(response && { response: constant(response) }),
      ...(redirects !== undefined && { followRedirects: constant(redirects) }),
      ...(expectAll && { expect: constant(['2xx', '3xx', '4xx', '5xx']) }),
    },
    items: items ?? ((result) => `responseItems(${result}.body)`),
    expands,
  });
}

const isGet = (method: Value): boolean => method.kind === 'constant' && method.value === 'GET';
