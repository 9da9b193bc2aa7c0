/**
 * Valid names and values of HTTP headers, so that none can inject another (RFC 9110 sections 5.1, 5.5 and
 * 7.6.1).
 */

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
/** No control characters except tab, and no characters beyond Latin-1. */
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/** Headers of the connection or the message framing. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
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
 * Headers that requests cannot set: the URL determines the host, and the client does not support `Expect`.
 */
export const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  ...CONNECTION_HEADERS,
  'expect',
  'host',
  'proxy-authorization',
]);

/**
 * Headers that replies of workflows cannot set, because all projects share the host of the webhooks: those
 * that a browser stores for the whole host or applies beyond the one answer.
 */
const HOST_HEADERS: ReadonlySet<string> = new Set([
  'accept-ch',
  'alt-svc',
  'attribution-reporting-register-os-source',
  'attribution-reporting-register-os-trigger',
  'attribution-reporting-register-source',
  'attribution-reporting-register-trigger',
  'clear-site-data',
  'content-security-policy-report-only',
  'critical-ch',
  'date',
  'expect-ct',
  'idp-signin-status',
  'nel',
  'origin-agent-cluster',
  'public-key-pins',
  'public-key-pins-report-only',
  'refresh',
  'report-to',
  'reporting-endpoints',
  'secure-session-challenge',
  'secure-session-registration',
  'service-worker-allowed',
  'set-cookie',
  'set-cookie2',
  'set-login',
  'shared-storage-write',
  'speculation-rules',
  'strict-transport-security',
  'use-as-dictionary',
  'x-lighttpd-send-file',
  'x-reproxy-url',
  'x-sendfile',
]);

/**
 * Headers that proxies obey: nginx sends another page (`X-Accel-Redirect`), Envoy takes the replica out of
 * service.
 */
const PROXY_PREFIXES = ['x-accel-', 'x-envoy-'];

/** Whether a reply of a workflow cannot set the header. The name must be in lower case. */
export function isWithheldHeader(name: string): boolean {
  if (CONNECTION_HEADERS.has(name) || HOST_HEADERS.has(name)) return true;
  return PROXY_PREFIXES.some((prefix) => name.startsWith(prefix));
}

export function isHeaderName(name: string): boolean {
  return NAME.test(name);
}

export function isHeaderValue(value: string): boolean {
  return VALUE.test(value);
}
