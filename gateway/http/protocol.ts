/** Rejects requests that Node's HTTP parser accepts but other programs may read differently. */
import { METHODS, type IncomingMessage } from 'node:http';

/** A host with an optional port (RFC 3986, section 3.2.2), or nothing: no user and no path. */
const HOST = /^[A-Za-z0-9._~!$&'()*+,;=%[\]:-]*$/;

/**
 * Whether the request is HTTP/0.9 or HTTP/2, has a transfer coding other than chunked or any in HTTP/1.0 (RFC
 * 9112, section 6.1), or has two hosts, an invalid one, or none in HTTP/1.1 (section 3.2).
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

/** Whether the client expects anything but "100 Continue" (RFC 9110, section 10.1.1). */
export function isUnsupportedExpectation({ headers: { expect } }: IncomingMessage): boolean {
  return expect !== undefined && expect.toLowerCase() !== '100-continue';
}

/** Path and query of a URL in absolute form, which every server must accept (RFC 9112, section 3.2.2). */
export function originForm(url: string): string {
  const path = /^https?:\/\/[^/?#]*(.*)$/is.exec(url)?.[1];
  return path?.startsWith('/') === true ? path : '/';
}

/** The URL, or `/` if its escapes are invalid: Fastify would answer those itself, before any check. */
export function routableUrl(url: string): string {
  if (!url.includes('%')) return url;
  try {
    // The router does not decode the query.
    decodeURI(url.split(/[?#]/, 1)[0] ?? '');
    return url;
  } catch {
    return '/';
  }
}

const KNOWN = new Set(METHODS);

/**
 * Marks a request with an unknown method as malformed: the parser accepts RTSP methods, and Fastify answers
 * methods that no route can have itself, at some cost.
 */
export function rejectUnknownMethod(request: {
  method?: string | undefined;
  httpVersionMajor: number;
}): void {
  if (KNOWN.has(request.method ?? '')) return;
  Object.assign(request, { method: 'TRACE', httpVersionMajor: 0 });
}
