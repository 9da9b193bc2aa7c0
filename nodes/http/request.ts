/** What a request to a provider is, and its answer. */
import type { Readable } from 'node:stream';
import type { Secret } from '../contract/secret.ts';
import type { Asked } from '../contract/failure.ts';

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

/** Methods that ask for no change (RFC 9110 section 9.2.1). */
export const SAFE_METHODS: ReadonlySet<Method> = new Set(['GET', 'HEAD', 'OPTIONS']);

export type HttpRequest = {
  method: Method;
  /** Scheme, host and port. */
  origin: string;
  /** With the query, encoded. It is sent as it is: nothing in it is resolved. */
  path: string;
  /** Names in lower case. */
  headers?: Readonly<Record<string, string>>;
  body?: string | Buffer;
  /** Sent only while the request stays with its first origin. */
  login?: Login;
  /** How many redirects to follow. Default 0: a redirect is an answer like any other. */
  redirects?: number;
  /** Where it may be redirected. Left out: anywhere. */
  mayRedirect?: (from: URL, to: URL) => boolean;
  /** Whether the answer may be compressed; it is read uncompressed. */
  isCompressible?: boolean;
  /** Whether to use a new connection that is closed afterwards. */
  isAlone?: boolean;
  /** Set by redirects: a request that was redirected to this one asked for a change. */
  afterChange?: boolean;
};

/** A secret in a header or in a parameter of the query. */
export type Login = { to: 'headers' | 'query'; name: string; value: Secret };

/** An answer. Its body must be read (`body.ts`) or dropped. */
export type HttpAnswer = {
  /** Host and port, for messages. */
  host: string;
  status: number;
  /** Names in lower case; values of the same name are joined with commas. */
  headers: Readonly<Record<string, string>>;
  body: Readable;
  request: HttpRequest;
  /** Whether the content encoding is to be undone. */
  isCompressible: boolean;
  asked: Asked;
};

/** Origin and path of a URL, without its fragment. */
export function at({ origin, pathname, search }: URL): Pick<HttpRequest, 'origin' | 'path'> {
  return { origin, path: pathname + search };
}
