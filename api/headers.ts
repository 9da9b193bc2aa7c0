/** What HTTP headers may be called and hold, so that none can smuggle another one in (RFC 9110 sections 5.1, 5.5 and 7.6.1). */

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
/** No control characters but the tab, nothing beyond Latin-1. */
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/** Headers that belong to the connection, or say where a message ends. */
export const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * What requests cannot set either: the host comes from the URL, and `Expect` waits for an answer that the client does not wait for.
 */
export const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  ...CONNECTION_HEADERS,
  'expect',
  'host',
  'proxy-authorization',
]);

export function isHeaderName(name: string): boolean {
  return NAME.test(name);
}

export function isHeaderValue(value: string): boolean {
  return VALUE.test(value);
}
