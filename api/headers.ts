/** What HTTP headers may be called and hold, so that none can smuggle another one in (RFC 9110 sections 5.1, 5.5 and 7.6.1). */

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
/** No control characters but the tab, nothing beyond Latin-1. */
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/** Headers that belong to the connection, or say where a message ends. */
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
 * What requests cannot set either: the host comes from the URL, and `Expect` waits for an answer that the client does not wait for.
 */
export const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  ...CONNECTION_HEADERS,
  'expect',
  'host',
  'proxy-authorization',
]);

/**
 * What the answers of workflows cannot set, since all projects share the host of the webhooks: what a browser keeps for the whole host,
 * or acts on beyond the one answer.
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

/** What proxies before the gateway obey: nginx sends another page (`X-Accel-Redirect`), Envoy takes the replica out of service. */
const PROXY_PREFIXES = ['x-accel-', 'x-envoy-'];

/** Whether the answer of a workflow cannot set it; the name is in lower case. */
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
