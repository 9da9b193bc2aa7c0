/**
 * Which requests come from the console's own pages. A browser sends the session's cookie with every request to this host; it counts
 * only with a header that no other site can make a browser send here, and where the browser does not say that another site asked.
 */
import type { IncomingHttpHeaders } from 'node:http';

/** What all calls of the console have. A page of another site would need leave to send it (CORS), which nobody gets. */
const HEADER = 'x-windlass-console';

/** What is known of the console's own address. */
export type ConsoleOrigin = {
  /** Whether the request was sent to the console's host; always, where no address is configured. */
  isConsoleHost: (headers: IncomingHttpHeaders) => boolean;
  /** Whether a page of the console sent it, so that the session may count. */
  isFromConsole: (headers: IncomingHttpHeaders) => boolean;
  /**
   * Whether the browser says that no other site is behind the request: by Sec-Fetch-Site, which it sends over https and to this very
   * machine; otherwise by Origin, or Referer where there is none. A request with none of the three comes from no page of ours.
   */
  isSameOrigin: (headers: IncomingHttpHeaders) => boolean;
  /** Whether the browser came by https: by the configured address; otherwise what stands between tells it, or the page's own address does. */
  isSecure: (headers: IncomingHttpHeaders) => boolean;
  /** Where the browser reaches us: the configured address, otherwise by the request's own word. */
  own: (headers: IncomingHttpHeaders) => string;
};

/** With an address, an origin such as `https://windlass.example.com`, nothing that a request says of its own is believed. */
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
    own: (headers) =>
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

/** A Host header as URLs spell it: in lower case, without the port that the protocol has anyway. */
function hostIn(protocol: string, host: string | undefined): string | undefined {
  const url = `${protocol}//${host}`;
  return host !== undefined && URL.canParse(url) ? new URL(url).host : undefined;
}

function originOf(address: string | undefined): string | undefined {
  return address !== undefined && URL.canParse(address) ? new URL(address).origin : undefined;
}

const HOME = '/console/';
/** It must fit the cookie of a sign-in that is under way. */
const LONGEST_PAGE = 2_000;

/** The page of the console that a sign-in leads to: a path of ours, or the first page for all else. */
export function returnPath(wanted: unknown): string {
  if (typeof wanted !== 'string' || wanted.length > LONGEST_PAGE || !wanted.startsWith(HOME)) return HOME;
  // Read as a browser would: dots, backslashes and the like must not lead out.
  const base = 'http://console';
  const { origin, pathname, search, hash } = new URL(wanted, base);
  const isPage = origin === base && pathname.startsWith(HOME);
  return isPage && !/^\/console\/(session|oidc|link)/.test(pathname) ? pathname + search + hash : HOME;
}
