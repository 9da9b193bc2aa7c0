/**
 * Which requests come from the console's own pages. A browser sends the session's cookie with every request to this host; it counts
 * only with a header that no other site can make a browser send here, and where the browser does not say that another site asked.
 */
import type { IncomingHttpHeaders } from 'node:http';

/** What all calls of the console have. A page of another site would need leave to send it (CORS), which nobody gets. */
const HEADER = 'x-windlass-console';

/** Whether a page of the console sent it, so that the session may count. */
export function isFromConsole(headers: IncomingHttpHeaders): boolean {
  return headers[HEADER] === '1' && isSameOrigin(headers);
}

/**
 * Whether the browser says that no other site is behind the request: by Sec-Fetch-Site, which it sends over https and to this very
 * machine; otherwise by Origin, or Referer where there is none. A request with none of the three comes from no page of ours.
 */
export function isSameOrigin(headers: IncomingHttpHeaders): boolean {
  const { origin, referer } = headers;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  return isOfHost(origin ?? referer, headers.host);
}

/** Whether the browser came by https: what stands between tells it, or the page's own address does. */
export function isSecure(headers: IncomingHttpHeaders): boolean {
  const forwarded = headers['x-forwarded-proto'];
  const [first = ''] = String(forwarded ?? '').split(',');
  if (forwarded !== undefined) return first.trim().toLowerCase() === 'https';
  return (headers.origin ?? headers.referer ?? '').startsWith('https:');
}

function isOfHost(address: string | undefined, host: string | undefined): boolean {
  if (address === undefined || host === undefined || !URL.canParse(address)) return false;
  const { protocol, host: named } = new URL(address);
  const own = `${protocol}//${host}`;
  return /^https?:$/.test(protocol) && URL.canParse(own) && new URL(own).host === named;
}

const HOME = '/console/';
/** It must fit the cookie of a sign-in that is under way. */
const LONGEST_PAGE = 2_000;

/** The page of the console that a sign-in leads to: a path of ours, or the first page for all else. */
export function pageOf(wanted: unknown): string {
  if (typeof wanted !== 'string' || wanted.length > LONGEST_PAGE || !wanted.startsWith(HOME)) return HOME;
  // Read as a browser would: dots, backslashes and the like must not lead out.
  const base = 'http://console';
  const { origin, pathname, search, hash } = new URL(wanted, base);
  const isPage = origin === base && pathname.startsWith(HOME);
  return isPage && !/^\/console\/(session|oidc|link)/.test(pathname) ? pathname + search + hash : HOME;
}

/** Where the browser reaches us, by its own word. */
export function ownOrigin(headers: IncomingHttpHeaders): string {
  return `${isSecure(headers) ? 'https' : 'http'}://${headers.host ?? 'localhost'}`;
}
