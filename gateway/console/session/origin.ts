/**
 * Decides which requests come from the console's own pages. Browsers send the session cookie with every
 * request to this host. It counts only with a header that no other site can make a browser send, and if the
 * browser does not name another site.
 */
import type { IncomingHttpHeaders } from 'node:http';

/**
 * The header of every call of the console. Another site would need CORS permission for it, which is never
 * granted.
 */
const HEADER = 'x-windlass-console';

/** The console's own origin. */
export type ConsoleOrigin = {
  /** Whether the request was sent to the console's host; always true without a configured origin. */
  isConsoleHost: (headers: IncomingHttpHeaders) => boolean;
  /** Whether a page of the console sent it, so that the session counts. */
  isFromConsole: (headers: IncomingHttpHeaders) => boolean;
  /**
   * Whether no other site caused the request: by Sec-Fetch-Site, which browsers send over https and to
   * localhost; else by Origin; else by Referer. Without all three it is false.
   */
  isSameOrigin: (headers: IncomingHttpHeaders) => boolean;
  /**
   * Whether the browser uses https: by the configured origin, else by X-Forwarded-Proto, else by the page's
   * own URL.
   */
  isSecure: (headers: IncomingHttpHeaders) => boolean;
  /** The origin that the browser uses: the configured one, else from the request. */
  baseURL: (headers: IncomingHttpHeaders) => string;
};

/**
 * With a configured origin such as `https://windlass.example.com`, nothing in a request is trusted about it.
 */
export function createOrigin(url: string | undefined): ConsoleOrigin {
  const configured = url === undefined ? undefined : new URL(url);
  const isConsoleHost = ({ host }: IncomingHttpHeaders): boolean =>
    configured === undefined || configured.host === hostIn(configured.protocol, host);
  const isSecure = (headers: IncomingHttpHeaders): boolean =>
    configured === undefined ? cameByHttps(headers) : configured.protocol === 'https:';
  const isSameOrigin = (headers: IncomingHttpHeaders): boolean => {
    if (!isConsoleHost(headers)) return false;
    const { origin, referer } = headers;
    const site = headers['sec-fetch-site'];
    if (site !== undefined) return site === 'same-origin' || site === 'none';
    const page = origin ?? referer;
    return configured === undefined ? isOfHost(page, headers.host) : originOf(page) === configured.origin;
  };
  return {
    isConsoleHost,
    isSecure,
    isSameOrigin,
    isFromConsole: (headers) => headers[HEADER] === '1' && isSameOrigin(headers),
    baseURL: (headers) =>
      configured?.origin ?? `${isSecure(headers) ? 'https' : 'http'}://${headers.host ?? 'localhost'}`,
  };
}

function cameByHttps(headers: IncomingHttpHeaders): boolean {
  const forwarded = headers['x-forwarded-proto'];
  const [first = ''] = String(forwarded ?? '').split(',');
  if (forwarded !== undefined) return first.trim().toLowerCase() === 'https';
  return (headers.origin ?? headers.referer ?? '').startsWith('https:');
}

function isOfHost(address: string | undefined, host: string | undefined): boolean {
  if (address === undefined || !URL.canParse(address)) return false;
  const { protocol, host: named } = new URL(address);
  return /^https?:$/.test(protocol) && hostIn(protocol, host) === named;
}

/** A Host header in URL form: lower case, without the default port. */
function hostIn(protocol: string, host: string | undefined): string | undefined {
  const url = `${protocol}//${host}`;
  return host !== undefined && URL.canParse(url) ? new URL(url).host : undefined;
}

function originOf(address: string | undefined): string | undefined {
  return address !== undefined && URL.canParse(address) ? new URL(address).origin : undefined;
}

const HOME = '/console/';
/** Must fit the sign-in cookie. */
const LONGEST_PAGE = 2_000;

/** The console page to return to after sign-in; the first page for any other value. */
export function returnPath(wanted: unknown): string {
  if (typeof wanted !== 'string' || wanted.length > LONGEST_PAGE || !wanted.startsWith(HOME)) return HOME;
  // Parsed as a browser does: dots and backslashes must not lead elsewhere.
  const base = 'http://console';
  const { origin, pathname, search, hash } = new URL(wanted, base);
  const isPage = origin === base && pathname.startsWith(HOME);
  return isPage && !/^\/console\/(session|oidc|link)/.test(pathname) ? pathname + search + hash : HOME;
}
