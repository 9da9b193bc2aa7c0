/** What the HTTP parser lets pass and others may read in another way; all of it is told before anything else is looked at. */
import { METHODS, type IncomingMessage } from 'node:http';

/** A name or an address, with a port (RFC 3986, section 3.2.2), or nothing: neither a user nor a path. */
const HOST = /^[A-Za-z0-9._~!$&'()*+,;=%[\]:-]*$/;

/**
 * HTTP/0.9, which knows no headers; HTTP/2 without being asked; another transfer coding than chunked, or any in HTTP/1.0
 * (RFC 9112, section 6.1); two hosts, or none in HTTP/1.1, or one that is none (section 3.2).
 */
export function isMalformed(request: IncomingMessage): boolean {
  const { httpVersionMajor, httpVersionMinor, headers, rawHeaders } = request;
  if (httpVersionMajor !== 1) return true;
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (httpVersionMinor === 0 || coding.toLowerCase() !== 'chunked')) return true;
  if (headers.host !== undefined && !HOST.test(headers.host)) return true;
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1 || (hosts === 0 && httpVersionMinor > 0);
}

/** Whether the client waits for something else than to be told to go on (RFC 9110, section 10.1.1). */
export function isUnsupportedExpectation({ headers: { expect } }: IncomingMessage): boolean {
  return expect !== undefined && expect.toLowerCase() !== '100-continue';
}

/** The path and query of an address that names a host too, which every server must take (RFC 9112, section 3.2.2). */
export function originForm(url: string): string {
  const path = /^https?:\/\/[^/?#]*(.*)$/is.exec(url)?.[1];
  return path?.startsWith('/') === true ? path : '/';
}

/**
 * The address, or that of the server itself where its escapes stand for nothing: the router would answer these by itself,
 * before anything of the request was judged.
 */
export function routableUrl(url: string): string {
  if (!url.includes('%')) return url;
  try {
    // Of the query nothing is asked.
    decodeURI(url.split(/[?#]/, 1)[0] ?? '');
    return url;
  } catch {
    return '/';
  }
}

const KNOWN = new Set(METHODS);

/**
 * Makes a request that is misunderstood of one whose method is not of HTTP: the parser takes those of RTSP too, and what no method
 * can have a route for, the framework answers by itself, at some cost.
 */
export function rejectUnknownMethod(request: {
  method?: string | undefined;
  httpVersionMajor: number;
}): void {
  if (KNOWN.has(request.method ?? '')) return;
  Object.assign(request, { method: 'TRACE', httpVersionMajor: 0 });
}
